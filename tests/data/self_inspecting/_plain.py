"""Runs programs as ``python FILE`` does, each in a fork of this process, which has imported nothing but torch.

It reads a line ``FILE OUTPUT`` for each; a line that begins with ``+`` is for a program that compiles: what torch imports at the first
compilation is imported once. It answers with a line when the program is over.
"""
import os
import sys


def be(file, output):
    target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(target, 1)
    os.dup2(target, 2)
    os.close(target)
    os.close(nothing)
    os.chdir(os.path.dirname(file))
    sys.argv = [file]
    sys.path[0] = os.path.dirname(file)
    import atexit
    import importlib.machinery
    import threading
    import types

    main = types.ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", file)
    main.__dict__.update(__file__=file, __cached__=None, __loader__=loader, __builtins__=sys.modules["builtins"])
    sys.modules["__main__"] = main
    try:
        with open(file) as text:
            code = compile(text.read(), file, "exec", dont_inherit=True)
        exec(code, main.__dict__)
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException as error:
        error.__traceback__ = error.__traceback__.tb_next
        sys.excepthook(type(error), error, error.__traceback__)
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(0)


def serve():
    import torch

    below = None
    for line in sys.stdin:
        file, output = line.removeprefix("+").split()
        if line.startswith("+") and "torch._dynamo" not in sys.modules:
            import torch._dynamo.convert_frame  # noqa: F401
            import torch._inductor.compile_fx  # noqa: F401
        child = os.fork()
        if child == 0:
            be(file, output)
        os.waitpid(child, 0)
        print("over", flush=True)


serve()
