// What can be undone: a list of snapshots and where we are in it.
export class History {
  constructor(onMove, most = 200) {
    Object.assign(this, { list: [], at: -1, onMove, most });
  }
  get now() {
    return this.list[this.at];
  }
  get canUndo() {
    return this.at > 0;
  }
  get canRedo() {
    return this.at < this.list.length - 1;
  }
  push(snapshot) {
    this.list.length = this.at + 1;
    this.list.push(snapshot);
    if (this.list.length > this.most) this.list.shift();
    this.at = this.list.length - 1;
  }
  undo() {
    if (this.canUndo) this.onMove(this.list[--this.at]);
  }
  redo() {
    if (this.canRedo) this.onMove(this.list[++this.at]);
  }
}
