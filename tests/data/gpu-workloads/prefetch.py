import torch


class Prefetcher:
    def __init__(self, batches):
        self.batches, self.stream = iter(batches), torch.cuda.Stream()
        self.load()

    def load(self):
        self.batch = next(self.batches, None)
        if self.batch is not None:
            with torch.cuda.stream(self.stream):
                self.batch = self.batch.to("cuda", non_blocking=True)

    def __iter__(self):
        while self.batch is not None:
            torch.cuda.current_stream().wait_stream(self.stream)
            batch = self.batch
            batch.record_stream(torch.cuda.current_stream())
            self.load()
            yield batch


@torch.compile
def step(x):
    torch.cuda.synchronize()
    return (x.float() / 255).var(dim=-1)


images = [torch.randint(0, 255, (4, 3 + extra), dtype=torch.uint8).pin_memory() for extra in (0, 0, 2)]
for image in Prefetcher(images):
    step(image)
