import type { LogWish, Tier } from '../model/scenario.js'
import { published, type Reference, type ReferencePoint } from './reference-point.js'

/** Connections; then requests a second, P50 and P99 in milliseconds with the log off, and the same with it on. */
type Row = readonly [number, ...Figures, ...Figures]
type Figures = readonly [perSecond: number, p50: number, p99: number]

interface Curve {
  readonly tier: Tier
  readonly method: 'GET' | 'POST'
  readonly bodyBytes: number
  readonly rows: readonly Row[]
}

/** Not measured. */
const NONE: Figures = [0, 0, 0]
const KB = 1024

const CURVES: readonly Curve[] = [
  {
    tier: 'W1',
    method: 'GET',
    bodyBytes: 0,
    rows: [
      [100, 1447, 56, 3150, 1198, 29, 720],
      [250, 1448, 57, 384, 1198, 31, 165],
      [500, 1638, 55, 461, 1422, 65, 304],
    ],
  },
  {
    tier: 'W1',
    method: 'POST',
    bodyBytes: KB,
    rows: [
      [100, 1338, 2480, 5910, 1097, 36, 652],
      [250, 1348, 103, 1570, 1099, 45, 658],
      [500, 1480, 93, 1110, 1342, 65, 297],
    ],
  },
  {
    tier: 'W1',
    method: 'POST',
    bodyBytes: 5 * KB,
    rows: [
      [100, 1196, 61, 1380, 899, 27, 225],
      [250, 1199, 70, 796, 898, 32, 211],
      [500, 1352, 107, 540, 1148, 45, 496],
    ],
  },
  {
    tier: 'W2',
    method: 'GET',
    bodyBytes: 0,
    rows: [
      [250, 3498, 58, 3030, 2995, 43, 1300],
      [500, 3493, 73, 653, 2996, 92, 2790],
      [750, 3493, 57, 427, 2993, 91, 1520],
      [1000, 3842, 81, 396, 3385, 74, 1290],
    ],
  },
  {
    tier: 'W2',
    method: 'POST',
    bodyBytes: KB,
    rows: [
      [250, 2746, 45, 1320, 2246, 13, 313],
      [500, 2745, 41, 305, 2246, 23, 709],
      [750, 2746, 31, 222, 2246, 48, 531],
      [1000, 3322, 56, 391, 2498, 95, 550],
    ],
  },
  {
    tier: 'W2',
    method: 'POST',
    bodyBytes: 5 * KB,
    rows: [
      [250, 2496, 26, 413, 1996, 42, 320],
      [500, 2497, 44, 880, 1997, 69, 2330],
      [750, 2494, 73, 293, 1997, 59, 967],
      [1000, 3097, 87, 319, 2237, 139, 1630],
    ],
  },
  {
    tier: 'W4',
    method: 'GET',
    bodyBytes: 0,
    rows: [
      [250, 8441, 10_900, 21_000, 7145, 10_700, 17_100],
      [500, 8898, 1750, 7960, 7490, 56, 1370],
      [1000, 8929, 772, 5060, 7478, 162, 2680],
      [2000, 9078, 193, 4000, 6836, 12_400, 26_600],
    ],
  },
  {
    tier: 'W4',
    method: 'POST',
    bodyBytes: KB,
    rows: [
      [250, 7382, 22_700, 35_700, 5104, 24_500, 49_900],
      [500, 7377, 14_800, 37_800, 5699, 11_200, 31_200],
      [1000, 7727, 8880, 25_300, 5656, 7060, 34_000],
      [2000, 8019, 1650, 8790, 5980, 7410, 20_400],
    ],
  },
  {
    tier: 'W4',
    method: 'POST',
    bodyBytes: 5 * KB,
    rows: [
      [250, 5215, 24_400, 42_500, 4330, 13_200, 29_100],
      [500, 5919, 6260, 18_100, 4700, 2230, 8150],
      [1000, 6071, 2130, 12_400, 4705, 2020, 8520],
      [2000, 6573, 630, 6560, 5147, 1440, 7890],
    ],
  },
  {
    tier: 'W8',
    method: 'GET',
    bodyBytes: 0,
    rows: [
      [250, 13_893, 33, 3740, 12_983, 21, 2900],
      [500, 13_964, 32, 2100, 12_893, 115, 2080],
      [1000, 13_972, 30, 1210, 12_972, 36, 1290],
      [2000, 13_960, 67, 6060, 12_804, 98, 5040],
      [3000, ...NONE, 14_256, 1700, 6570],
      [4000, 15_692, 319, 4060, ...NONE],
    ],
  },
  {
    tier: 'W8',
    method: 'POST',
    bodyBytes: KB,
    rows: [
      [250, 12_992, 159, 5790, 11_984, 45, 1680],
      [500, 12_974, 35, 3450, 11_825, 2200, 8690],
      [1000, 12_972, 46, 2440, 11_978, 246, 4090],
      [2000, 12_963, 77, 2580, 11_948, 513, 5450],
      [3000, ...NONE, 12_704, 153, 3910],
      [4000, 12_988, 742, 19_100, ...NONE],
    ],
  },
  {
    tier: 'W8',
    method: 'POST',
    bodyBytes: 5 * KB,
    rows: [
      [250, 6431, 1390, 5980, 5793, 2220, 13_800],
      [500, 6420, 74, 4650, 5928, 80, 4810],
      [1000, 6377, 3100, 15_600, 5985, 55, 4070],
      [2000, 6347, 625, 13_600, 5985, 178, 1600],
      [3000, ...NONE, 6543, 263, 1610],
      [4000, 6423, 4040, 29_500, ...NONE],
    ],
  },
]

/**
 * Figures so little below a round number were taken at that rate, whatever the report says of overload: nearly all rows
 * of W1 and W2 sit right below a multiple of 50 and half of W8 below one of 500, where chance would give a fifth and less.
 */
const RATE_STEPS: Readonly<Record<Tier, number | null>> = { W1: 50, W2: 50, W4: null, W8: 500 }
const RATE_SHORTFALL = 0.005

/** The gateway of Apinizer, version 8 of its report (March 2026). */
export const APINIZER: Reference = {
  suite: 'apinizer',
  product: 'Apinizer gateway (report v8)',
  hardware:
    '12 vCPU Intel Broadwell 2.0 GHz, one Kubernetes pod of 1, 2, 4 or 8 CPU, machines of their own for load, origin and log',
  measuredWith: 'wrk2, mean of 3 runs of 300 s, no policy',
  points: CURVES.flatMap((curve) => [...pointsOf(curve, 'none'), ...pointsOf(curve, 'elasticsearch')]),
}

function pointsOf(curve: Curve, log: LogWish): ReferencePoint[] {
  const measured = curve.rows
    .map(([users, offRate, offP50, offP99, onRate, onP50, onP99]) =>
      log === 'none'
        ? { users, perSecond: offRate, p50: offP50, p99: offP99 }
        : { users, perSecond: onRate, p50: onP50, p99: onP99 },
    )
    .filter((row) => row.perSecond > 0)
  const peak = Math.max(...measured.map((row) => row.perSecond))
  const { tier, method, bodyBytes } = curve
  const request = bodyBytes === 0 ? 'get' : `post-${bodyBytes / KB}kb`
  return measured.map(({ users, perSecond, p50, p99 }) => ({
    scenario: `${tier.toLowerCase()}-${request}${log === 'none' ? '' : '-elasticsearch'}`,
    cpus: Number(tier.slice(1)),
    log,
    method,
    bodyBytes,
    users,
    kind: perSecond < peak && isBelowRoundRate(perSecond, RATE_STEPS[tier]) ? 'fixed-rate' : 'saturation',
    perSecond,
    latency: published({ p50, p99 }),
  }))
}

function isBelowRoundRate(perSecond: number, step: number | null): boolean {
  if (step === null) return false
  const round = Math.ceil(perSecond / step) * step
  return (round - perSecond) / round < RATE_SHORTFALL
}
