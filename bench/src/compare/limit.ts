/** Figures that limits may refer to. */
export const METRICS = ['rps', 'cpu', 'p50', 'p99', 'rss'] as const
export type Metric = (typeof METRICS)[number]

/** A limit that makes a comparison fail, such as `rps<-5%`: requests per second fell by more than 5 %. */
export interface Limit {
  readonly metric: Metric
  readonly direction: '<' | '>'
  /** Signed share, such as -0.05. */
  readonly change: number
  /** Original text. */
  readonly text: string
}

const LIMIT = /^(\w+)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)%$/

/** Parses limits such as `rps<-5% or p99>+10%`. A comparison fails if any of them applies. @throws Error if invalid */
export function parseLimits(expression: string): Limit[] {
  return expression.split(/\bor\b/).map((part) => {
    const text = part.trim()
    const [, name, direction, percent] = LIMIT.exec(text) ?? []
    const metric = METRICS.find((each) => each === name)
    if (metric === undefined)
      throw new Error(
        `'${text}' is not a limit; use one of ${METRICS.join(', ')}, < or >, and a change in percent, such as "rps<-5% or p99>+10%"`,
      )
    return { metric, direction: direction as Limit['direction'], change: Number(percent) / 100, text }
  })
}
