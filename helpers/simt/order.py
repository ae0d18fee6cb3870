"""The order of positions in which threads that parted meet again."""

import heapq


def position_order(graph: dict[int, tuple[int, ...]], entry: int) -> list[int]:
    """The nodes so that each loop's come together, before its exits, and all others after what
    leads to them.

    Strongly connected components are ordered as a whole; inside one, the edges back to its first
    node are dropped and the rest is ordered the same way. Ties go by number, the source's order.
    """
    order = []
    _place(set(graph), graph, entry, order)
    return order


def _place(nodes, graph, entry, order):
    components = _components(nodes, graph)
    home = {node: index for index, component in enumerate(components) for node in component}
    waiting = [0] * len(components)
    for node in nodes:
        for target in _inside(graph, node, nodes):
            waiting[home[target]] += home[target] != home[node]
    ready = [(min(c), i) for i, c in enumerate(components) if not waiting[i]]
    heapq.heapify(ready)
    while ready:
        _, index = heapq.heappop(ready)
        component = components[index]
        _place_component(component, graph, entry, order)
        for node in component:
            for target in _inside(graph, node, nodes):
                if home[target] != index:
                    waiting[home[target]] -= 1
                    if not waiting[home[target]]:
                        heapq.heappush(ready, (min(components[home[target]]), home[target]))


def _place_component(component, graph, entry, order):
    if len(component) == 1:
        order.extend(component)
        return
    placed = set(order)
    arrivals = [n for n in component if n == entry or any(
        n in graph.get(p, ()) for p in placed if p not in component)]
    header = min(arrivals or component)
    inner = {n: tuple(t for t in graph[n] if t in component and t != header) for n in component}
    _place(component, inner, header, order)


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
