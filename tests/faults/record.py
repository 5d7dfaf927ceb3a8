"""Reads the journal: the runs, their start and end, and which runs overlapped."""


PATIENCE_US = 1_000_000


class Run:
    """A run as its executor recorded it. `end`: its recorded end. Its witness records `alive`, the
    last time at which the run certainly lived, and `died`, when the end was noticed (never too early, but
    later if the processors are busy). Times in microseconds of CLOCK_BOOTTIME."""

    __slots__ = ("item", "host", "run", "fence", "pid", "start", "end", "alive", "died")

    def __init__(self, item, host, run, fence, pid, start):
        self.item, self.host, self.run = item, host, run
        self.fence, self.pid, self.start = fence, pid, start
        self.end = self.alive = self.died = None

    @property
    def over(self):
        """Time until which it certainly worked; None while it may still work."""
        return self.end if self.end is not None else self.alive

    def __repr__(self):
        return f"{self.item}@{self.host}#{self.fence}[{self.start}..{self.over}]"


class RunRecord:
    """The runs of a journal; each read() continues at the end of the last. `forget` drops runs that can no
    longer overlap."""

    def __init__(self, path, forget=False):
        self.path, self.forget = path, forget
        self.file = open(path, "rb")
        self.partial = b""
        self.runs = []
        self.count = 0
        self.by_id = {}
        self.last = {}
        self.pairs = []  # (earlier, later) runs of an item if the end of the earlier is not known yet
        self.overlapping = []
        self.marked = self.after_mark = None
        self.fences_back = 0  # number of runs whose fence is not greater than that of an earlier run of the item

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
        elif what == "alive":
            run.alive = int(when)
        else:
            run.died = int(when)
            del self.by_id[run_id]

    def mark(self, when):
        """Sets `after_mark` to the start of the first later run, as soon as there is one."""
        self.marked, self.after_mark = when, None

    def _started(self, run):
        self.count += 1
        if self.marked is not None and self.after_mark is None and run.start > self.marked:
            self.after_mark = run.start
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

    def undecided(self):
        """Returns whether a run has started of an item whose previous run may still work."""
        self._decide()
        return bool(self.pairs)

    def overlaps(self, now=None):
        """Returns pairs of runs of one item at the same time. With `now`, a pair whose first run has not
        ended counts only PATIENCE_US after the second start, because the witness may be late."""
        self._decide()
        return self.overlapping + [(before, run) for before, run in self.pairs
                                   if now is None or now > run.start + PATIENCE_US]

    def _decide(self):
        pairs, self.pairs = self.pairs, []
        for before, run in pairs:
            if before.over is None:
                self.pairs.append((before, run))
            elif before.over > run.start:
                self.overlapping.append((before, run))
