import spnn

net = spnn.load("models/celebahq64-classifier.safetensors")      # a torch.nn.Module
prior = spnn.load_prior("models/celebahq64-prior.safetensors")
photo = spnn.read_image("photo.png", size=64, channels=3)[None]  # a torch.Tensor of bytes
made = spnn.edit(photo, net, prior, set="Smiling", seed=3)       # spnn edit photo.png --set Smiling --seed 3
spnn.write_image("smiling.png", made.images[0])
