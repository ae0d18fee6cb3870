"""An order of pcs in which threads that a branch split reconverge."""

import heapq


def pc_order(graph: dict[int, tuple[int, ...]], entry: int):
    """The nodes, each loop's together and before its exits, and all others after their
    predecessors; and the latches.

    Strongly connected components are ordered as a whole; inside one, the edges to where
    its iterations begin are dropped and the rest is ordered the same way. Ties go by
    number, the source's order. A loop with several back edges gets a latch, a node
    behind all of its own, where its threads meet before the next iteration: `{latch:
    (where iterations begin, the nodes that go back)}`.
    """
    order, latches = [], {}
    _place(set(graph), graph, entry, order, latches)
    return order, latches


def _place(nodes, graph, entry, order, latches):
    components = _components(nodes, graph)
    home = {
        node: index for index, component in enumerate(components) for node in component
    }
    waiting = [0] * len(components)
    for node in nodes:
        for target in _inside(graph, node, nodes):
            waiting[home[target]] += home[target] != home[node]
    ready = [(min(c), i) for i, c in enumerate(components) if not waiting[i]]
    heapq.heapify(ready)
    while ready:
        _, index = heapq.heappop(ready)
        component = components[index]
        _place_component(component, graph, entry, order, latches)
        for node in component:
            for target in _inside(graph, node, nodes):
                if home[target] != index:
                    waiting[home[target]] -= 1
                    if not waiting[home[target]]:
                        heapq.heappush(
                            ready, (min(components[home[target]]), home[target])
                        )


def _place_component(component, graph, entry, order, latches):
    if len(component) == 1:
        order.extend(component)
        return
    header = _iteration_start(
        component, graph, _first(component, graph, entry, set(order))
    )
    _place(
        component, _without_edges_to(header, component, graph), header, order, latches
    )
    back = [n for n in component if header in graph[n]]
    if len(back) > 1:
        order.append(-1 - len(latches))
        latches[order[-1]] = (header, back)


def _first(component, graph, entry, placed):
    """The node where a loop is entered."""
    arrivals = [
        n
        for n in component
        if n == entry
        or any(n in graph.get(p, ()) for p in placed if p not in component)
    ]
    return min(arrivals or component)


def _iteration_start(component, graph, first):
    """The node where each iteration of a loop begins.

    Python tests a `while` once in front of the body and again behind it, and `continue`
    goes to the test in front: that makes a loop within a loop of one, known by the
    test behind, which leaves both. Its iterations begin at the body.
    """
    inner = _without_edges_to(first, component, graph)
    for nodes in _components(component, inner):
        body = _first(nodes, inner, None, component)
        for node in nodes if len(nodes) > 1 else ():
            targets = graph[node]
            if not component.issuperset(targets) and any(
                t == body or t in nodes and graph[t] == (body,) for t in targets
            ):
                return body
    return first


def _without_edges_to(node, component, graph):
    return {
        n: tuple(t for t in graph[n] if t in component and t != node) for n in component
    }


def _inside(graph, node, nodes):
    return [target for target in set(graph[node]) if target in nodes]


def _components(nodes, graph):
    """The strongly connected components (Tarjan), without recursion."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(nodes):
        if root in index:
            continue
        work = [(root, iter(_inside(graph, root, nodes)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(_inside(graph, target, nodes))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = set()
                    while node not in component:
                        component.add(stack.pop())
                        on_stack -= component
                    found.append(component)
    return found
