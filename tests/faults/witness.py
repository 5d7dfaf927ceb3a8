"""What the journal says: which runs there were, from when to when, and which overlapped."""


class Run:
    """A run as its executor wrote it down. `end` when it was done; `died` when its process was
    gone, as the executor's witness saw it. Times in microseconds of CLOCK_BOOTTIME."""

    __slots__ = ("item", "host", "run", "fence", "pid", "start", "end", "died")

    def __init__(self, item, host, run, fence, pid, start):
        self.item, self.host, self.run = item, host, run
        self.fence, self.pid, self.start = fence, pid, start
        self.end = self.died = None

    @property
    def over(self):
        """When it no longer worked; None while it may."""
        return self.end if self.end is not None else self.died

    def __repr__(self):
        return f"{self.item}@{self.host}#{self.fence}[{self.start}..{self.over}]"


class Journal:
    """Reads on where it stopped. With `forget`, runs that can't overlap any more are dropped."""

    def __init__(self, path, forget=False):
        self.path, self.forget = path, forget
        self.file = open(path, "rb")
        self.partial = b""
        self.runs = []
        self.count = 0
        self.by_id = {}
        self.last = {}
        self.pairs = []  # (earlier, later) runs of an item whose earlier end isn't known yet
        self.overlapping = []
        self.fences_back = 0  # a later run of an item whose fence isn't greater

    def read(self):
        data = self.partial + self.file.read()
        *lines, self.partial = data.split(b"\n")
        for line in lines:
            self._line(line.decode(errors="replace"))
        return self

    def _line(self, line):
        what, when, host, run_id, fence, pid, item = line.split(" ", 6)
        if what == "start":
            self._started(Run(item, host, run_id, int(fence), int(pid), int(when)))
            return
        run = self.by_id.get(run_id)
        if run is None:
            return
        if what == "end":
            run.end = int(when)
        else:
            run.died = int(when)
            del self.by_id[run_id]

    def _started(self, run):
        self.count += 1
        self.by_id[run.run] = run
        if not self.forget:
            self.runs.append(run)
        before = self.last.get(run.item)
        self.last[run.item] = run
        if before is None:
            return
        if run.fence and before.fence and run.fence <= before.fence:
            self.fences_back += 1
        if before.over is None:
            self.pairs.append((before, run))
        elif before.over > run.start:
            self.overlapping.append((before, run))

    def overlaps(self):
        """Pairs of runs of one item at the same time; one that isn't over counts as going on."""
        open_pairs = []
        for before, run in self.pairs:
            if before.over is None:
                open_pairs.append((before, run))
            elif before.over > run.start:
                self.overlapping.append((before, run))
        self.pairs = open_pairs
        return self.overlapping + open_pairs
