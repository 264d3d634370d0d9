# SPDX-License-Identifier: Apache-2.0
import activations.jax as ops
import jax
import jax.numpy as jnp


@jax.jit
def gated(x):
    return ops.silu_and_mul(x) + 1


x = jnp.array([[0.0, 1.0, 5.0, 2.0]])
print(gated(x))
print(jax.nn.silu(x[:, :2]) * x[:, 2:] + 1)
