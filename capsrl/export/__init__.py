"""Write the ONNX graphs of a model, with which it labels without torch.

The graphs repeat the arithmetic of `capsrl.network` for one sentence without padding; torch is the
reference, and tests compare the two.
"""
