import threading

import torch

from unbraid.data._buffers import BufferPool


def test_memory_is_used_again_only_when_nobody_holds_it():
    pool = BufferPool()
    first = pool.empty((4, 5))
    address, view = first.data_ptr(), first[1:]
    del first
    assert pool.empty((4, 5)).data_ptr() != address
    del view
    assert address in {pool.empty((4, 5)).data_ptr() for _ in range(3)}


def test_a_graph_that_saved_the_tensor_keeps_it():
    pool = BufferPool()
    batch = pool.empty((8,)).fill_(3.0)
    weight = torch.ones(8, requires_grad=True)
    loss = (weight * batch).sum()
    address = batch.data_ptr()
    del batch
    pool.empty((8,)).fill_(-1.0)
    loss.backward()
    assert pool.empty((8,)).data_ptr() is not None
    assert torch.equal(weight.grad, torch.full((8,), 3.0)), address


def test_a_caller_who_collects_gets_distinct_memory_beyond_the_pool():
    pool = BufferPool(most=2)
    kept = [pool.empty((16,)).fill_(i) for i in range(10)]
    assert [int(tensor[0]) for tensor in kept] == list(range(10))


def test_threads_never_share_a_tensor():
    pool, clashes = BufferPool(), []

    def work(number):
        for _ in range(300):
            tensor = pool.empty((64,)).fill_(number)
            if not bool((tensor == number).all()):
                clashes.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not clashes
