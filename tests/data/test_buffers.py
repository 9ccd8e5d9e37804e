import threading

import torch

from unbraid.data._buffers import BufferPool


def test_memory_is_used_again_only_when_nobody_holds_it():
    pool = BufferPool()
    first = torch.from_numpy(pool.empty((4, 5)))
    address, view = first.data_ptr(), first[1:]
    del first
    assert pool.empty((4, 5)).ctypes.data != address
    del view
    assert address in {pool.empty((4, 5)).ctypes.data for _ in range(3)}


def test_a_graph_that_saved_the_tensor_keeps_it():
    pool = BufferPool()
    batch = torch.from_numpy(pool.empty((8,))).fill_(3.0)
    weight = torch.ones(8, requires_grad=True)
    loss = (weight * batch).sum()
    del batch
    pool.empty((8,)).fill(-1.0)
    loss.backward()
    assert torch.equal(weight.grad, torch.full((8,), 3.0))


def test_a_caller_who_collects_gets_distinct_memory_beyond_the_pool():
    pool = BufferPool(most=2)
    kept = [pool.empty((16,)) for _ in range(10)]
    for number, array in enumerate(kept):
        array.fill(number)
    assert [int(array[0]) for array in kept] == list(range(10))


def test_threads_never_share_an_array():
    pool, clashes = BufferPool(), []

    def work(number):
        for _ in range(300):
            array = pool.empty((64,))
            array.fill(number)
            if not (array == number).all():
                clashes.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not clashes
