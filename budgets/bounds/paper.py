"""The closed forms of the AdaMB paper, with their constants and with the conditions they ask for.

Citations name the paper's labels (Sinclair, Wang, Jain, Banerjee, Yu: "Adaptive Discretization for
Model-Based Reinforcement Learning"): lem:LPbound, lem:size_partition, lem:countbound, lem:sum_ancestors,
thm:regret, Table 1 (tab:comparison_of_bounds) and the appendix "Implementation and Running Time"
(app:implementation_run_time).

A bound whose condition does not hold is still computed, as the paper prints it, but says `met=False` and
why: the caller shows both. Two arguments of the paper do not satisfy its own lemma: time never does, storage
only for γ ≥ dS + 1 (so not for dS > 2, where γ = dS). Thresholds are the real numbers φ·2^(γℓ) here; the
core's ceilings only raise them. The paper counts n₊ samples per split while its rule n + 1 ≥ n₊ needs one
fewer; the factor 4^d absorbs that. None of this covers split=inherited or mode tracking.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.options import paper_gamma


@dataclass(frozen=True)
class Bound:
    """A number, where it comes from, and whether what it asks for holds."""

    value: float
    cites: str
    condition: str
    met: bool
    exponent: float | None = None
    note: str = ""


def _check(**values: float) -> None:
    for field, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise InputError(field, value, "must be a finite number above 0")


def _power(base: float, exponent: float) -> float:
    """Infinite where a float cannot hold it."""
    try:
        return float(base**exponent)
    except OverflowError:
        return math.inf


def check_dims(d: float, d_s: float) -> None:
    _check(d=d, d_s=d_s)
    if d_s >= d:
        raise InputError("d_s", d_s, f"must be below d = {d:g}, the dimension of states and actions together")


def level_star(k: float, *, d: float, gamma: float, phi: float = 1) -> int:
    """ℓ* = inf{ℓ ≥ 0 : 2^(d(ℓ−1))·n₊(ℓ−1) ≥ k} of lem:LPbound."""
    _check(k=k, d=d, gamma=gamma, phi=phi)
    level = 0
    while (d + gamma) * (level - 1) + math.log2(phi) < math.log2(k) - 1e-12:
        level += 1
    return level


def partition_size(k: float, *, d: float, gamma: float, phi: float = 1) -> Bound:
    """|P| ≤ 4^d·(k/φ)^(d/(d+γ)) (lem:size_partition, from lem:LPbound with a_ℓ = 1).

    >>> round(partition_size(2000, d=2, gamma=3).value)
    335
    """
    _check(k=k, d=d, gamma=gamma, phi=phi)
    exponent = d / (d + gamma)
    value = 4**d * (k / phi) ** exponent
    condition = "γ ≥ 1 and k > φ·2^−(d+γ)"
    met = gamma >= 1 and level_star(k, d=d, gamma=gamma, phi=phi) >= 1
    return Bound(value, "lem:size_partition", condition, met, exponent)


def storage(k: float, *, horizon: int, d: float, d_s: float, gamma: float, phi: float = 1) -> Bound:
    """Σ_h Σ_B 2^(dS·ℓ(B)) ≤ H·4^(d+dS)·(K/φ)^((d+dS)/(d+γ)) (app:implementation_run_time; Table 1, space).

    Counts entries of the transition estimates, not bytes. Asks for 1 + dS ≤ γ.

    >>> storage(2000, horizon=5, d=6, d_s=3, gamma=3).met
    False
    """
    check_dims(d, d_s)
    _check(k=k, horizon=horizon, gamma=gamma, phi=phi)
    exponent = (d + d_s) / (d + gamma)
    value = horizon * 4 ** (d + d_s) * (k / phi) ** exponent
    met = gamma >= d_s + 1
    broken = "a_ℓ = 2^(dS·ℓ) grows too fast for the lemma on the paper's linear program: 2^(dS+1) > 2^γ"
    note = "" if met else broken
    return Bound(value, "app:implementation_run_time", "γ ≥ dS + 1", met, exponent, note)


def time(k: float, *, horizon: int, d: float, d_s: float, gamma: float, phi: float = 1) -> Bound:
    """Σ_h Σ_k 2^(dS·ℓ(B_h^k)) ≲ H·φ·4^(d+dS+γ)·(K/φ)^(1+dS/(d+γ)) (Table 1, time).

    The derivation is in app:implementation_run_time.
    lem:LPbound with a_ℓ = 2^((dS+γ)ℓ) asks for 1 + dS + γ ≤ γ, which never holds; see `single_path_time`.
    """
    check_dims(d, d_s)
    _check(k=k, horizon=horizon, gamma=gamma, phi=phi)
    exponent = 1 + d_s / (d + gamma)
    value = horizon * phi * 4 ** (d + d_s + gamma) * (k / phi) ** exponent
    note = (
        "a_ℓ = 2^((dS+γ)·ℓ) never satisfies the lemma on the paper's linear program; "
        "a run down one path costs K^(1+dS/γ)"
    )
    return Bound(value, "app:implementation_run_time", "1 + dS + γ ≤ γ", False, exponent, note)


def single_path_time(k: float, *, horizon: int, d_s: float, gamma: float, phi: float = 1) -> Bound:
    """Cost Σ_k 2^(dS·ℓ(B_k)) of a run that always selects the finest ball of one path: of order K^(1+dS/γ).

    A lower bound on the worst case, with n₊(ℓ) = φ·2^(γℓ) samples spent at each level of the path.
    """
    _check(k=k, horizon=horizon, d_s=d_s, gamma=gamma, phi=phi)
    left, total, level = float(k), 0.0, 0
    while left > 0:
        spent = min(left, max(1.0, phi * 2 ** (gamma * level)))
        total += spent * 2 ** (d_s * level)
        left -= spent
        level += 1
    note = "a lower bound on the worst case; above the stated time exponent 1 + dS/(d+γ)"
    return Bound(horizon * total, "app:implementation_run_time, contradicted", "none", True, 1 + d_s / gamma, note)


def regret(k: float, *, horizon: int, d: float, d_s: float, lipschitz: float = 1) -> Bound:
    """R(K) ≲ L·H^(1+1/(d+1))·K^(1−1/(d+γ)), up to constants and logarithms (thm:regret).

    L is 1 + L_r + L_V + L_V·L_T. The exponent of H asks for φ = H^((d+γ)/(d+1)).

    >>> round(regret(2000, horizon=5, d=2, d_s=1).exponent, 3)
    0.8
    """
    check_dims(d, d_s)
    _check(k=k, horizon=horizon, lipschitz=lipschitz)
    exponent = 1 - 1 / (d + paper_gamma(d_s))
    value = lipschitz * horizon ** (1 + 1 / (d + 1)) * k**exponent
    note = f"up to constants and logarithms; no play loses more than H·K = {horizon * k:.6g}"
    return Bound(value, "thm:regret", "the float reference with bonus=theory", True, exponent, note)


def bonus_sum(k: float, alpha: float, beta: float, *, d: float, gamma: float, phi: float = 1) -> Bound:
    """Σ_k 2^(βℓ)/n^α over the balls played: φ^(−(dα+β)/(d+γ))·K^((d+(1−α)γ+β)/(d+γ)) (lem:countbound).

    Up to a constant. Asks for 0 ≤ α ≤ 1 and αγ − β ≥ 1.
    """
    _check(k=k, d=d, gamma=gamma, phi=phi)
    for field, value in (("alpha", alpha), ("beta", beta)):
        if not (math.isfinite(value) and value >= 0):
            raise InputError(field, value, "must be a finite number, 0 or more")
    exponent = (d + (1 - alpha) * gamma + beta) / (d + gamma)
    scale = phi ** (-(d * alpha + beta) / (d + gamma))
    met = alpha <= 1 and alpha * gamma - beta >= 1 - 1e-12
    return Bound(scale * k**exponent, "lem:countbound", "α ≤ 1 and αγ − β ≥ 1", met, exponent)


def bonus_terms(d_s: float) -> dict[str, tuple[float, float]]:
    """The sums that the regret of one step is made of, by the (α, β) of each (sec:finalregret).

    >>> bonus_terms(1)["transitions"]
    (0.5, 0.5)
    """
    gamma = paper_gamma(d_s)
    transitions = (1 / d_s, 0.0) if d_s > 2 else (0.5, d_s / 2)
    return {"samples of a reward": (0.5, 0.0), "diameters": (1 / gamma, 0.0), "transitions": transitions}


PAC_POLICY = (
    "a policy drawn uniformly at random from the K policies played so far (not the last one, not the best); "
    "V*(X) − V^π(X) ≤ ε with probability 1 − δ over the start state X, the run and that draw"
)


def pac_episodes(epsilon: float, delta: float, *, horizon: int, d: float, d_s: float, lipschitz: float = 1) -> Bound:
    """K = (L·H^(1+1/(d+1))/(δε))^(d+γ), up to constants and logarithms (Policy-Identification Guarantees).

    Asks for start states drawn from one fixed distribution. The policy it speaks of is PAC_POLICY.
    """
    check_dims(d, d_s)
    _check(epsilon=epsilon, delta=delta, horizon=horizon, lipschitz=lipschitz)
    if delta >= 1:
        raise InputError("delta", delta, "must be below 1")
    exponent = d + paper_gamma(d_s)
    value = _power(lipschitz * horizon ** (1 + 1 / (d + 1)) / (delta * epsilon), exponent)
    condition = "start states from one fixed distribution; the float reference with bonus=theory"
    return Bound(value, "Policy-Identification Guarantees", condition, True, exponent, PAC_POLICY)


@dataclass(frozen=True)
class Row:
    """Exponents of one algorithm, up to constants and logarithms; None where the table gives none."""

    algorithm: str
    regret_h: float
    regret_k: float
    time_k: float | None
    space_k: float | None
    note: str = ""


def table_one(d: float, d_s: float) -> list[Row]:
    """All rows for d dimensions in all, d_s of them of states. Time and space also grow as H.

    The last row is not in the table: the appendix works it out roughly (app:implementation_run_time).

    >>> [round(row.regret_k, 3) for row in table_one(2, 1)]
    [0.8, 0.75, 0.8, 0.75, 0.75]
    """
    check_dims(d, d_s)
    gamma = paper_gamma(d_s)
    free, kernel = 1 - 1 / (d + 2), 1 - 1 / (2 * d + 1)
    ours = (1 + 1 / (d + 1), 1 - 1 / (d + gamma), 1 + d_s / (d + gamma), (d + d_s) / (d + gamma))
    return [
        Row("AdaMB", *ours),
        Row("adaptive Q-learning", 2.5, free, 1.0, 1 - 2 / (d + 2), "time also grows as log K"),
        Row("kernel UCBVI", 3.0, kernel, 2.0, 1.0, "time also grows as the number of actions"),
        Row("net-based Q-learning", 2.5, free, 2.0, 1.0),
        Row("lower bound", 1.0, free, None, None),
        Row("UCBVI on a fixed grid", 2.0, kernel, None, None, "a rough calculation of the paper's appendix"),
    ]
