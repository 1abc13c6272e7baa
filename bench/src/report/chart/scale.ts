/** Places a value on an axis, 0 at its beginning and 1 at its end. */
export interface Scale {
  place(value: number): number
  readonly ticks: readonly number[]
}

export type ScaleKind = 'linear' | 'log' | 'percentile'

/** An axis for these values; `linear` begins at 0. Percentiles stand apart by nines: 90, 99 and 99.9 are equally far. */
export function scaleFor(kind: ScaleKind, values: readonly number[]): Scale {
  if (kind === 'log') return logScale(values)
  return kind === 'percentile' ? percentileScale(values) : linearScale(values)
}

const WANTED_TICKS = 5
const STEPS = [1, 2, 2.5, 5, 10]

function linearScale(values: readonly number[]): Scale {
  const most = Math.max(0, ...values)
  const raw = (most === 0 ? 1 : most) / WANTED_TICKS
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = power * STEPS.find((each) => each * power >= raw * 0.999)!
  const count = Math.max(1, Math.ceil(most / step - 1e-9))
  const end = count * step
  return {
    place: (value) => value / end,
    ticks: Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12))),
  }
}

function logScale(values: readonly number[]): Scale {
  const usable = values.filter((value) => value > 0)
  const least = usable.length === 0 ? 1 : Math.min(...usable)
  const most = usable.length === 0 ? 10 : Math.max(...usable)
  const ticks = logTicks(least, most)
  const from = Math.log10(Math.min(least, ticks[0]!))
  const to = Math.log10(Math.max(most, ticks.at(-1)!))
  const span = to - from || 1
  return { place: (value) => (Math.log10(Math.max(value, 1e-9)) - from) / span, ticks }
}

/** Powers of ten, with 2 and 5 between them while there are few; from the last at or below the least value to the first above the most. */
function logTicks(least: number, most: number): number[] {
  const [first, last] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))]
  const mantissas = last - first <= 3 ? [1, 2, 5] : [1]
  const all: number[] = []
  for (let power = first; power <= last; power++)
    for (const mantissa of mantissas) all.push(Number((mantissa * 10 ** power).toPrecision(3)))
  const begin = Math.max(
    0,
    all.findLastIndex((tick) => tick <= least),
  )
  const end = all.findIndex((tick) => tick >= most)
  return all.slice(begin, (end === -1 ? all.length : end) + 1)
}

const NINES = [0, 50, 90, 99, 99.9, 99.99, 99.999]

function percentileScale(values: readonly number[]): Scale {
  const most = Math.max(...values, 90)
  const end = nines(NINES.find((tick) => tick >= most) ?? most)
  const from = nines(Math.min(50, ...values))
  return {
    place: (value) => (nines(value) - from) / (end - from),
    ticks: NINES.filter((tick) => nines(tick) >= from && nines(tick) <= end),
  }
}

function nines(percentile: number): number {
  return -Math.log10(Math.max(1e-6, 1 - percentile / 100))
}
