import { bootstrap, interval, mean, median, resampled, seededRandom } from './statistics.js'

/** A median with its 95 % interval. */
export type Estimate = Readonly<Record<'low' | 'middle' | 'high', number>>

/** Fewest rounds for an interval. */
export const LEAST_ROUNDS = 3
const RESAMPLES = 2000

/**
 * Fits the Universal Scalability Law (Gunther 2007): `cost(N) = cost(1) * (1 + sigma*(N-1) + kappa*N*(N-1))`, with
 * contention sigma and coherency kappa. Intervals come from a bootstrap over rounds. One worker count besides 1 gives one
 * equation for two parameters: kappa is then drawn evenly from 0 to the value at which sigma is 0.
 * @param rounds CPU time per request by number of workers, in microseconds, measured close together
 * @returns null with fewer than three rounds, or without a second worker count
 */
export function fitScalability(rounds: readonly ReadonlyMap<number, number>[], seed: string) {
  const counts = [...(rounds[0]?.keys() ?? [])].filter((workers) => workers > 1)
  if (rounds.length < LEAST_ROUNDS || counts.length === 0) return null
  const random = seededRandom(seed)
  const draws = bootstrap(() => {
    const sample = resampled(rounds, random)
    // Ratios within a round cancel changes in machine speed between rounds.
    const losses = counts.map(
      (n): Loss => [n, mean(sample.map((round) => round.get(n)! / round.get(1)!)) - 1],
    )
    const cost = mean(sample.map((round) => round.get(1)!))
    return { cost, ...(losses.length === 1 ? withAssumedKappa(losses[0]!, random()) : fitted(losses)) }
  }, RESAMPLES)
  const over = (value: (draw: (typeof draws)[number]) => number): Estimate => {
    const values = draws.map(value)
    const [low, high] = interval(values)
    return { low, middle: median(values), high }
  }
  return {
    sigma: over(({ sigma }) => sigma),
    kappa: over(({ kappa }) => kappa),
    isKappaAssumed: counts.length === 1,
    /** Returns the CPU time per request in microseconds for a number of workers. */
    costAt: (n: number) =>
      over(({ cost, sigma, kappa }) => cost * (1 + sigma * (n - 1) + kappa * n * (n - 1))),
  }
}

type Loss = readonly [workers: number, loss: number]

function withAssumedKappa([n, loss]: Loss, share: number) {
  const whole = Math.max(0, loss)
  return { sigma: (whole * (1 - share)) / (n - 1), kappa: (whole * share) / (n * (n - 1)) }
}

/** Returns the least-squares fit with both parameters at least 0. */
function fitted(losses: readonly Loss[]) {
  const sum = (value: (p: number, q: number, loss: number) => number): number =>
    losses.reduce((all, [n, loss]) => all + value(n - 1, n * (n - 1), loss), 0)
  const [pp, pq, qq] = [sum((p) => p * p), sum((p, q) => p * q), sum((_, q) => q * q)]
  const [py, qy] = [sum((p, _, y) => p * y), sum((_, q, y) => q * y)]
  const scale = pp * qq - pq * pq
  const free = { sigma: (py * qq - qy * pq) / scale, kappa: (qy * pp - py * pq) / scale }
  if (free.sigma >= 0 && free.kappa >= 0) return free
  const [sigma, kappa] = [Math.max(0, py / pp), Math.max(0, qy / qq)]
  const isContention = sum((p, _, y) => (y - sigma * p) ** 2) < sum((_, q, y) => (y - kappa * q) ** 2)
  return isContention ? { sigma, kappa: 0 } : { sigma: 0, kappa }
}
