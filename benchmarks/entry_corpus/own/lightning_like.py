"""A module in the style of Lightning: the steps are methods, the trainer is elsewhere."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, input_dim: int = 784, hidden_dim: int = 128, latent_dim: int = 16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(input_dim, hidden_dim), nn.ReLU())
        self.mu, self.logvar = nn.Linear(hidden_dim, latent_dim), nn.Linear(hidden_dim, latent_dim)

    def forward(self, x):
        h = self.net(x.flatten(1))
        return self.mu(h), self.logvar(h)


class LitVAE(nn.Module):
    def __init__(self, lr: float = 1e-3):
        super().__init__()
        self.lr = lr
        self.encoder = Encoder()
        self.decoder = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 784))

    def forward(self, batch):
        mu, logvar = self.encoder(batch)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.decoder(z), mu, logvar

    def training_step(self, batch, batch_idx):
        x, _ = batch
        out, mu, logvar = self(x)
        return F.mse_loss(out, x.flatten(1)) - 0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)
