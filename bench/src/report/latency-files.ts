import { percentileText } from '../engine/spectrum.js'
import type { Point, Summary } from '../model/summary.js'

/** Their folder, within that of the run. */
export const LATENCY_DIR = 'latency'
/** Far below what file systems take, and more than any name of ours has. */
const LONGEST_NAME = 150

/** One file: its name, and how to get its content. */
export interface LatencyFile {
  readonly name: string
  /** @throws Error when the point's histogram cannot be read. */
  content(): string
}

/** The percentile distribution of every point that has its histogram, in milliseconds, as plotters of HdrHistogram read it. */
export function latencyFiles({ points }: Summary): LatencyFile[] {
  const taken = new Set<string>()
  return points.flatMap((point) => {
    const hdr = point.latency?.hdr ?? null
    if (hdr === null) return []
    const name = `${freeName(nameOf(point), taken)}.hgrm`
    return [{ name, content: () => contentOf(hdr, name) }]
  })
}

function contentOf(hdr: string, name: string): string {
  try {
    return percentileText(hdr)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${name}: the histogram in summary.json cannot be read (${reason})`, { cause })
  }
}

/** `w1-get-100-sluice-saturation`: no character of it leads out of a folder, whoever wrote the summary. */
function nameOf({ scenario, connections, contestant, targetPerSecond, sloMicros, kind }: Point): string {
  const rate = `rate-${Math.round(targetPerSecond ?? 0)}`
  const load = kind === 'saturation' ? kind : rate
  const slo = sloMicros === undefined ? '' : `-slo-${sloMicros}us`
  return `${scenario}-${connections}-${contestant}-${load}${slo}`
    .replace(/[^\w-]+/g, '_')
    .slice(0, LONGEST_NAME)
}

function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted
  for (let i = 2; taken.has(name); i++) name = `${wanted}-${i}`
  taken.add(name)
  return name
}
