"""The kinds of code for pyperf: KINDS names the shared object, KIND the routine."""
import ctypes
import os

import pyperf

runner = pyperf.Runner()
kind = getattr(ctypes.CDLL(os.environ["KINDS"]), os.environ["KIND"])
runner.bench_func(os.environ["KIND"], kind)
