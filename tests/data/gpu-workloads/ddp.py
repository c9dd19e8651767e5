import os, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def main():
    dist.init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)).cuda(rank)
    model = torch.compile(DDP(net, device_ids=[rank]))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for n in (8, 8, 5):
        x = torch.randn(n, 16, device=f"cuda:{rank}")
        loss = model(x).logsumexp(-1).mean()
        loss.backward(); opt.step(); opt.zero_grad()
    dist.destroy_process_group()

if __name__ == "__main__":
    main()
