"""A training script that wants a GPU and a data set."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(32)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc1 = nn.Linear(64 * 8 * 8, 128)
        self.fc2 = nn.Linear(128, num_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc2(F.dropout(F.relu(self.fc1(x)), training=self.training))


def train(model, loader, optimizer, device):
    model.train()
    for images, labels in loader:
        loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--epochs", type=int, default=90)
    args = parser.parse_args()
    device = torch.device("cuda")
    from torchvision import datasets, transforms

    data = datasets.CIFAR10(args.root, transform=transforms.ToTensor())
    loader = torch.utils.data.DataLoader(data, batch_size=128, num_workers=4, pin_memory=True)
    net = torch.compile(Net().cuda())
    for _ in range(args.epochs):
        train(net, loader, torch.optim.SGD(net.parameters(), lr=0.1), device)
