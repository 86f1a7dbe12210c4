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

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adamb.budgets.errors import InputError


@dataclass(frozen=True)
class Bound:
    """A number, where it comes from, and whether what it asks for holds."""

    value: float
    cites: str
    condition: str
    met: bool
    exponent: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Growth:
    """H^horizon · K^episodes up to constants and logarithms."""

    horizon: float
    episodes: float
    factor: str = ""


@dataclass(frozen=True)
class TableRow:
    algorithm: str
    regret: Growth
    time: Growth | None
    space: Growth | None


def _check(**values: float) -> None:
    for field, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise InputError(field, value, "must be a finite number above 0")


def _check_dims(d: float, d_s: float) -> None:
    _check(d=d, d_s=d_s)
    if d_s >= d:
        raise InputError("d_s", d_s, f"must be below d = {d:g}, the dimension of states and actions together")


def paper_gamma(d_s: float) -> float:
    """γ = dS for dS > 2 and dS + 2 otherwise (section "Refine Partition")."""
    _check(d_s=d_s)
    return d_s if d_s > 2 else d_s + 2


def paper_phi(horizon: int, d: float, d_s: float) -> float:
    """φ = H^((d+dS)/(d+1)), as the algorithm's description prints it (section "Refine Partition").

    Rounded to 12 figures, so that 32^(6/5) is 64 and its thresholds are not one too high. The regret
    derivation uses another exponent: `regret_phi`.
    """
    _check_dims(d, d_s)
    _check(horizon=horizon)
    return float(f"{float(horizon) ** ((d + d_s) / (d + 1)):.12g}")


def regret_phi(horizon: int, d: float, d_s: float) -> float:
    """φ = H^((d+γ)/(d+1)), the value that the regret derivation (sec:finalregret) asks for; larger for dS ≤
    2."""
    _check_dims(d, d_s)
    _check(horizon=horizon)
    return float(f"{float(horizon) ** ((d + paper_gamma(d_s)) / (d + 1)):.12g}")


def level_star(k: float, *, d: float, gamma: float, phi: float = 1) -> int:
    """ℓ* = inf{ℓ ≥ 0 : 2^(d(ℓ−1))·n₊(ℓ−1) ≥ k} of lem:LPbound."""
    _check(k=k, d=d, gamma=gamma, phi=phi)
    level = 0
    while (d + gamma) * (level - 1) + math.log2(phi) < math.log2(k) - 1e-12:
        level += 1
    return level


def level_star_bound(k: float, *, d: float, gamma: float, phi: float = 1) -> Bound:
    """ℓ* ≤ log₂(k/φ)/(d+γ) + 2 (lem:size_partition)."""
    _check(k=k, d=d, gamma=gamma, phi=phi)
    value = math.log2(k / phi) / (d + gamma) + 2
    met = level_star(k, d=d, gamma=gamma, phi=phi) >= 1
    return Bound(value, "lem:size_partition", "ℓ* ≥ 1, that is k > φ·2^−(d+γ)", met)


def sum_lemma(
    k: float, penalty: Callable[[int], float], *, d: float, gamma: float, phi: float = 1, levels: int = 40
) -> Bound:
    """Σ over the leaves of a_ℓ ≤ 2^(dℓ*)·a_ℓ* (lem:LPbound).

    Asks for 0 ≤ a_ℓ ≤ a_{ℓ+1} at every level and for 2a_{ℓ+1}/a_ℓ ≤ n₊(ℓ)/n₊(ℓ−1) = 2^γ at every ℓ ≥ ℓ* (the
    paper notes after the proof that only those levels are used). Both are checked on `levels` levels from ℓ*
    on.
    """
    star = level_star(k, d=d, gamma=gamma, phi=phi)
    values = [penalty(level) for level in range(star + levels + 1)]
    condition = "0 ≤ a_ℓ ≤ a_{ℓ+1}, and 2a_{ℓ+1}/a_ℓ ≤ n₊(ℓ)/n₊(ℓ−1) for ℓ ≥ ℓ*"
    failure = ""
    for level, (now, following) in enumerate(itertools.pairwise(values)):
        if not 0 <= now <= following:
            failure = f"a_{level} = {now:g} and a_{level + 1} = {following:g} do not grow"
            break
        if level >= star and 2 * following > now * 2**gamma * (1 + 1e-12):
            ratio = f"{2 * following / now:g}" if now else "infinite"
            failure = f"2a_{level + 1}/a_{level} = {ratio} is above 2^γ = {2**gamma:g}"
            break
    return Bound(2 ** (d * star) * values[star], "lem:LPbound", condition, not failure, note=failure)


def partition_size(k: float, *, d: float, gamma: float, phi: float = 1) -> Bound:
    """|P| ≤ 4^d·(k/φ)^(d/(d+γ)) (lem:size_partition, from lem:LPbound with a_ℓ = 1)."""
    _check(k=k, d=d, gamma=gamma, phi=phi)
    exponent = d / (d + gamma)
    value = 4**d * (k / phi) ** exponent
    condition = "γ ≥ 1 and k > φ·2^−(d+γ)"
    met = gamma >= 1 and level_star(k, d=d, gamma=gamma, phi=phi) >= 1
    return Bound(value, "lem:size_partition", condition, met, exponent)


def storage(k: float, *, horizon: int, d: float, d_s: float, gamma: float, phi: float = 1) -> Bound:
    """Σ_h Σ_B 2^(dS·ℓ(B)) ≤ H·4^(d+dS)·(K/φ)^((d+dS)/(d+γ)) (app:implementation_run_time; Table 1, space).

    Counts entries of the transition estimates, not bytes. Asks for 1 + dS ≤ γ.
    """
    _check_dims(d, d_s)
    _check(k=k, horizon=horizon, gamma=gamma, phi=phi)
    exponent = (d + d_s) / (d + gamma)
    value = horizon * 4 ** (d + d_s) * (k / phi) ** exponent
    met = gamma >= d_s + 1
    note = "" if met else "a_ℓ = 2^(dS·ℓ) grows too fast for lem:LPbound: 2^(dS+1) > 2^γ"
    return Bound(value, "app:implementation_run_time", "γ ≥ dS + 1", met, exponent, note)


def time(k: float, *, horizon: int, d: float, d_s: float, gamma: float, phi: float = 1) -> Bound:
    """Σ_h Σ_k 2^(dS·ℓ(B_h^k)) ≲ H·φ·4^(d+dS+γ)·(K/φ)^(1+dS/(d+γ)) (Table 1, time).

    The derivation is in app:implementation_run_time.
    lem:LPbound with a_ℓ = 2^((dS+γ)ℓ) asks for 1 + dS + γ ≤ γ, which never holds; see `single_path_time`.
    """
    _check_dims(d, d_s)
    _check(k=k, horizon=horizon, gamma=gamma, phi=phi)
    exponent = 1 + d_s / (d + gamma)
    value = horizon * phi * 4 ** (d + d_s + gamma) * (k / phi) ** exponent
    note = "a_ℓ = 2^((dS+γ)ℓ) never satisfies lem:LPbound; a run down one path costs K^(1+dS/γ)"
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
    return Bound(
        horizon * total, "app:implementation_run_time, contradicted", "none", True, 1 + d_s / gamma, note
    )


def bonus_sum(k: float, *, d: float, gamma: float, phi: float, alpha: float, beta: float = 0) -> Bound:
    """Σ_k 2^(βℓ)/n^α ≤ 2·4^x·φ^(1−α)/(1−α)·(K/φ)^(x/(d+γ)), x = d + β + γ(1−α) (lem:countbound, first part).

    The paper drops the leading 2 in its last but one line; it is kept here.
    """
    _check(k=k, d=d, gamma=gamma, phi=phi)
    _check_powers(alpha, beta)
    x = d + beta + gamma * (1 - alpha)
    exponent = x / (d + gamma)
    met = alpha < 1 and alpha * gamma - beta >= 1
    value = math.inf
    if alpha < 1:
        value = 2 * 4**x * phi ** (1 - alpha) / (1 - alpha) * (k / phi) ** exponent
    note = "" if alpha < 1 else "the constant 1/(1−α) is infinite at α = 1"
    return Bound(value, "lem:countbound (first)", "0 ≤ α < 1, β ≥ 0, αγ − β ≥ 1", met, exponent, note)


def level_bonus_sum(k: float, *, d: float, gamma: float, phi: float, alpha: float, beta: float) -> Bound:
    """Σ_k ℓ^β/n^α ≤ 2φ^(1−α)/(1−α)·4^x·(K/φ)^(x/(d+γ))·(log₂(K/φ)/(d+γ) + 2)^β, x = d + γ(1−α).

    The second part of lem:countbound.

    The condition of lem:LPbound is αγ − β·log₂(1 + 1/ℓ*) ≥ 1. The paper weakens it to αγ − β/ℓ* ≥ 1 with
    log₂(1+x) ≤ x, which is the wrong way round on (0, 1); the unweakened form is the one checked.
    """
    _check(k=k, d=d, gamma=gamma, phi=phi)
    _check_powers(alpha, beta)
    x = d + gamma * (1 - alpha)
    star = math.log2(k / phi) / (d + gamma) + 2
    met = alpha < 1 and star > 0 and alpha * gamma - beta * math.log2(1 + 1 / star) >= 1
    value = math.inf
    if alpha < 1 and star > 0:
        value = 2 * phi ** (1 - alpha) / (1 - alpha) * 4**x * (k / phi) ** (x / (d + gamma)) * star**beta
    printed = star > 0 and alpha * gamma - beta / star >= 1
    note = (
        "the paper's printed condition αγ − β/ℓ* ≥ 1 holds, but does not suffice"
        if printed and not met
        else ""
    )
    condition = "0 ≤ α < 1, β ≥ 0, αγ − β·log₂(1 + 1/ℓ*) ≥ 1"
    return Bound(value, "lem:countbound (second)", condition, met, x / (d + gamma), note)


def _check_powers(alpha: float, beta: float) -> None:
    if not 0 <= alpha <= 1:
        raise InputError("alpha", alpha, "must be between 0 and 1")
    if not (math.isfinite(beta) and beta >= 0):
        raise InputError("beta", beta, "must be 0 or more")


def ancestor_diameter(counts: Sequence[float], *, gamma: float) -> tuple[float, Bound]:
    """Mean diameter of the samples of a ball and its ancestors, and its limit 4·D(B) (lem:sum_ancestors).

    `counts[ℓ]` is the own sample count at level ℓ, root first, the ball itself last; D = 2^−ℓ. The proof uses
    2^−(γ−1) ≤ 1/2 and ancestors that hold exactly n₊ samples.
    """
    _check(gamma=gamma)
    total = math.fsum(counts)
    if not counts or total <= 0 or min(counts) < 0:
        raise InputError("counts", list(counts), "must be counts of 0 or more with a sum above 0")
    mean = math.fsum(n * 2.0**-level for level, n in enumerate(counts)) / total
    limit = 4 * 2.0 ** -(len(counts) - 1)
    condition = "γ ≥ 2 and split=own"
    return mean, Bound(limit, "lem:sum_ancestors", condition, gamma >= 2)


def regret(d: float, d_s: float) -> Growth:
    """R(K) ≲ L·H^(1+1/(d+1))·K^e, e = 1 − 1/(d+dS) for dS > 2 and 1 − 1/(d+dS+2) otherwise (thm:regret)."""
    _check_dims(d, d_s)
    return Growth(1 + 1 / (d + 1), 1 - 1 / (d + paper_gamma(d_s)), "L = 1 + L_r + L_V + L_V·L_T")


PAC_POLICY = (
    "a policy drawn uniformly at random from the K policies played so far (not the last one, not the best); "
    "V*(X) − V^π(X) ≤ ε with probability 1 − δ over the start state X, the run and that draw"
)


def pac_episodes(
    epsilon: float, delta: float, *, horizon: int, d: float, d_s: float, lipschitz: float = 1
) -> Bound:
    """K = (L·H^(1+1/(d+1))/(δε))^(d+γ), up to constants and logarithms (Policy-Identification Guarantees).

    Asks for start states drawn from one fixed distribution. The policy it speaks of is PAC_POLICY.
    """
    _check_dims(d, d_s)
    _check(epsilon=epsilon, delta=delta, horizon=horizon, lipschitz=lipschitz)
    if delta >= 1:
        raise InputError("delta", delta, "must be below 1")
    exponent = d + paper_gamma(d_s)
    value = (lipschitz * horizon ** (1 + 1 / (d + 1)) / (delta * epsilon)) ** exponent
    condition = "start states from one fixed distribution; mode paper with the full theoretical bonuses"
    return Bound(value, "Policy-Identification Guarantees", condition, True, exponent, PAC_POLICY)


def table_1(d: float, d_s: float) -> list[TableRow]:
    """The rows of Table 1 for given dimensions; time and space are None where the paper prints N/A."""
    _check_dims(d, d_s)
    gamma = paper_gamma(d_s)
    log = "log_d(K)"
    return [
        TableRow(
            "AdaMB", regret(d, d_s), Growth(1, 1 + d_s / (d + gamma)), Growth(1, (d + d_s) / (d + gamma))
        ),
        TableRow(
            "Adaptive Q-Learning", Growth(2.5, 1 - 1 / (d + 2)), Growth(1, 1, log), Growth(1, 1 - 2 / (d + 2))
        ),
        TableRow(
            "Kernel UCBVI", Growth(3, 1 - 1 / (2 * d + 1)), Growth(1, 2, "A, finite actions"), Growth(1, 1)
        ),
        TableRow("Net-Based Q-Learning", Growth(2.5, 1 - 1 / (d + 2)), Growth(1, 2), Growth(1, 1)),
        TableRow("Lower bound", Growth(1, 1 - 1 / (d + 2)), None, None),
    ]
