"""Recompute every figure of traces from their JSON alone, and say where they differ.

An independent second reading of the metrics table: it imports nothing from specviz and shares no
code with it. Run it on files: ``python tests/recount.py TRACE ...``; exit status 1 on a difference.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from typing import Any

TOLERANCE = 1e-9  # relative; sums may be taken in another order


def recount(doc: dict[str, Any]) -> dict[str, Any]:
    """Every figure of the trace's ``metrics`` object."""
    steps, beside = doc["steps"], doc.get("baseline")
    figures = {**counts(steps), **times(steps, beside), **memory(doc)}
    figures["expected_speedup"] = expected(steps, figures)
    figures.update(verdict(steps, beside, figures["measured_speedup"]))
    return figures


def counts(steps: list[dict[str, Any]]) -> dict[str, Any]:
    drafts = [token for step in steps for token in step["proposed"]]
    fates = [token["fate"] for token in drafts]
    own = [step["target_token"] for step in steps if step["target_token"]]
    accepted, rejected = fates.count("accepted"), fates.count("rejected")
    full = [step for step in steps if step["cut"] is None]
    judged = [token for token in drafts if token["fate"] != "discarded"]
    lossy = [t for t in judged if t["fate"] == "accepted" and t.get("total_variation")]
    lossy = [t for t in lossy if t.get("target_choice") not in (None, t["id"])]
    return {
        "num_steps": len(steps),
        "num_full_steps": len(full),
        "num_target_only_steps": len([step for step in steps if not step["proposed"]]),
        "num_proposed": len(drafts),
        "num_judged": accepted + rejected,
        "num_accepted": accepted,
        "num_rejected": rejected,
        "num_discarded": fates.count("discarded"),
        "num_unsent": sum(step.get("num_unsent", 0) for step in steps),
        "num_residual": [token["fate"] for token in own].count("residual"),
        "num_bonus": [token["fate"] for token in own].count("bonus"),
        "num_tokens": accepted + len(own),
        "num_draft_forwards": sum(step["num_draft_forwards"] for step in steps),
        "num_target_forwards": sum(step["num_target_forwards"] for step in steps),
        "num_lossy_accepted": len(lossy),
        "acceptance_rate": over(accepted, accepted + rejected),
        "draft_yield": over(accepted, len(drafts)),
        "block_efficiency": over(accepted + len(own), len(steps)),
        "block_efficiency_full_steps": over(sum(map(committed, full)), len(full)),
        "mean_proposed": over(len(drafts), len(steps)),
        "mean_overlap": mean([t["overlap"] for t in judged if t.get("overlap") is not None]),
        "mean_total_variation": mean(
            [t["total_variation"] for t in judged if t.get("total_variation") is not None]
        ),
        "acceptance_by_position": by_position(steps),
        "accepted_histogram": histogram(steps),
    }


def kept(step: dict[str, Any]) -> int:
    return len([token for token in step["proposed"] if token["fate"] == "accepted"])


def committed(step: dict[str, Any]) -> int:
    return kept(step) + (step["target_token"] is not None)


def seconds(step: dict[str, Any]) -> float:
    return float(step["draft_s"] + step["verify_s"] + step["other_s"])


def by_position(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for place in range(max([len(step["proposed"]) for step in steps], default=0)):
        fates = [s["proposed"][place]["fate"] for s in steps if len(s["proposed"]) > place]
        accepted, rejected = fates.count("accepted"), fates.count("rejected")
        rows.append(
            {
                "position": place + 1,
                "num_proposed": len(fates),
                "num_judged": accepted + rejected,
                "num_accepted": accepted,
                "rate": over(accepted, len(fates)),
                "conditional_rate": over(accepted, accepted + rejected),
            }
        )
    return rows


def histogram(steps: list[dict[str, Any]]) -> list[int]:
    sizes = [kept(step) for step in steps]
    return [sizes.count(size) for size in range(max(sizes) + 1)] if sizes else []


def times(steps: list[dict[str, Any]], beside: dict[str, Any] | None) -> dict[str, Any]:
    draft, verify, other = (
        math.fsum(step[part] for step in steps) for part in ("draft_s", "verify_s", "other_s")
    )
    total = draft + verify + other
    tokens = sum(map(committed, steps))
    per_draft = [s["draft_s"] / s["num_draft_forwards"] for s in steps if s["num_draft_forwards"]]
    draft_forward = statistics.median(per_draft) if per_draft else None
    per_token = over(total, tokens)
    plain = yardstick(steps, beside)
    return {
        "draft_s": draft,
        "verify_s": verify,
        "other_s": other,
        "total_s": total,
        "draft_share": over(draft, total),
        "verify_share": over(verify, total),
        "other_share": over(other, total),
        "seconds_per_token": per_token,
        "draft_forward_s": draft_forward,
        "cost_coefficient": over(draft_forward, plain["step"]),
        "verify_cost": verify_cost(steps, plain["forward"]),
        "measured_speedup": over(plain["per_token"], per_token),
    }


def yardstick(
    steps: list[dict[str, Any]], beside: dict[str, Any] | None
) -> dict[str, float | None]:
    """Plain decoding: that of the baseline, and where it lacks, this run's target-only steps."""
    beside = beside or {}
    alone = [step for step in steps if not step["proposed"]]
    per_token = beside.get("seconds_per_token") or None
    step = beside.get("step_s") or per_token
    forward = beside.get("verify_s") or step
    if alone:
        step = step or statistics.median(map(seconds, alone))
        forward = forward or statistics.median(map(forward_s, alone))
    return {"per_token": per_token, "step": step, "forward": forward}


def forward_s(step: dict[str, Any]) -> float:
    return float(step["verify_s"] / (step["num_target_forwards"] or 1))


def verify_cost(steps: list[dict[str, Any]], forward: float | None) -> list[dict[str, Any]]:
    if not forward:
        return []
    sizes = sorted({len(step["proposed"]) for step in steps})
    return [
        {
            "positions": size + 1,
            "cost": statistics.median(forward_s(s) for s in steps if len(s["proposed"]) == size)
            / forward,
        }
        for size in sizes
    ]


def expected(steps: list[dict[str, Any]], figures: dict[str, Any]) -> float | None:
    """Σ (1 − α^(γ+1)) / (1 − α) over Σ (γc + v(γ+1)), with the γ of each step."""
    alpha, c = figures["acceptance_rate"], figures["cost_coefficient"]
    if c is None and figures["num_draft_forwards"] == 0:
        c = 0.0
    if alpha is None or c is None:
        return None
    points = {row["positions"]: row["cost"] for row in figures["verify_cost"]}
    tokens, cost = 0.0, 0.0
    for step in steps:
        gamma = len(step["proposed"])
        tokens += gamma + 1 if alpha == 1 else (1 - alpha ** (gamma + 1)) / (1 - alpha)
        cost += gamma * c + points.get(gamma + 1, 1.0)
    return over(tokens, cost)


def verdict(
    steps: list[dict[str, Any]], beside: dict[str, Any] | None, speedup: float | None
) -> dict[str, Any]:
    """Faster or slower by the two decimals shown, and what a mean step pays most for."""
    words = {True: "faster", False: "slower"}
    word = "unknown"
    if speedup is not None:
        word = "equal" if round(speedup, 2) == 1 else words[round(speedup, 2) > 1]
    if not steps:
        return {"speed_verdict": word, "costliest_term": None}
    paid = {p: mean([step[f"{p}_s"] for step in steps]) for p in ("draft", "verify", "other")}
    if speedup is not None and beside:
        paid["verify"] -= beside["seconds_per_token"]  # one plain step is needed anyhow
    return {"speed_verdict": word, "costliest_term": max(paid, key=lambda part: paid[part])}


def memory(doc: dict[str, Any]) -> dict[str, Any]:
    def weights(model: dict[str, Any] | None) -> Any:
        return None if model is None else model.get("memory_bytes", model.get("bytes"))

    parts = [step.get("memory") or {} for step in doc["steps"]]
    seen = [(doc.get("prefill") or {}).get("memory") or {}, *parts]
    allocated = [part.get("allocated_bytes") for part in seen]
    peaks = {
        f"peak_{name}_bytes": max([part.get(f"{name}_bytes", 0) for part in parts], default=None)
        for name in ("target_cache", "draft_cache", "logits")
    }
    return {
        "target_weights_bytes": weights(doc["models"]["target"]),
        "draft_weights_bytes": weights(doc["models"]["draft"]),
        **peaks,
        "peak_run_bytes": max([step["memory_bytes"] for step in doc["steps"]], default=None),
        "peak_allocated_bytes": max([n for n in allocated if n is not None], default=None),
    }


def so_far(doc: dict[str, Any]) -> list[dict[str, Any]]:
    """The figures that the page shows after each step; times in ms."""
    rows, steps = [], doc["steps"]
    for number in range(1, len(steps) + 1):
        part = steps[:number]
        done, spent = counts(part), times(part, None)
        now = steps[number - 1]
        rows.append(
            {
                "rate": done["acceptance_rate"],
                "tau": done["block_efficiency"],
                "speed": over(done["num_tokens"], spent["total_s"]),
                "tokens": done["num_tokens"],
                "elapsed": 1000 * spent["total_s"],
                "draft": spent["draft_share"],
                "verify": spent["verify_share"],
                "other": spent["other_share"],
                "latency": over(1000 * seconds(now), committed(now)),
                "accepted": done["num_accepted"],
                "judged": done["num_judged"],
                "proposed": done["num_proposed"],
            }
        )
    return rows


def over(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def mean(values: list[float]) -> Any:
    return over(math.fsum(values), len(values))


def agree(one: Any, two: Any, tolerance: float = TOLERANCE) -> bool:
    """Equal, numbers within the tolerance."""
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(agree, one, two))
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(agree(one[key], two[key]) for key in one)
    if type(one) is float or type(two) is float:
        return None not in (one, two) and math.isclose(one, two, rel_tol=tolerance, abs_tol=1e-15)
    return bool(one == two)


def differences(doc: dict[str, Any]) -> list[str]:
    """One line per figure that is missing, unknown, or not what the steps give."""
    stored, found = doc["metrics"], recount(doc)
    lines = [f"{name}: not in the trace" for name in found.keys() - stored.keys()]
    lines += [f"{name}: not in the metrics table" for name in stored.keys() - found.keys()]
    for name in sorted(stored.keys() & found.keys()):
        if not agree(stored[name], found[name]):
            lines.append(f"{name}: stored {stored[name]!r}, the steps give {found[name]!r}")
    return sorted(lines)


def main(paths: list[str]) -> int:
    """Compare the files and return the exit status."""
    wrong = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            doc = json.load(file)
        lines = differences(doc)
        wrong += bool(lines)
        print(f"{path}: {len(doc['metrics'])} figures, {len(lines)} differ")
        for line in lines:
            print(f"  {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
