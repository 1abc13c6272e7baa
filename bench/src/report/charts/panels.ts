import type { Point } from '../../model/summary.js'
import { requestText } from '../figures.js'
import { groupedBy, tierFamily, withoutLog } from '../scenario-relation.js'

/** Points that belong into one chart, each line with its name. */
export interface Panel {
  readonly title: string
  readonly lines: ReadonlyMap<string, readonly Point[]>
  /** All names that lines may have, in the order of their colours. */
  readonly names: readonly string[]
}

/** As many lines as have colours of their own. */
const MOST_LINES = 8

/**
 * Of `contestants`, which holds all that took part in the run: with several a panel is a scenario and the lines are who took part; with one it is a request and the lines
 * are the configurations. What would be a panel of one line joins those that differ in the size of the body only, and
 * what is still alone joins those with the same request.
 */
export function panelsOf(points: readonly Point[], contestants: readonly string[]): Panel[] {
  if (contestants.length > 1) {
    const names = [...contestants, ...contestants.map(loggedName)]
    return [...groupedBy(points, withoutLog).values()].map((group) => ({
      title: group[0]!.title,
      lines: ordered(groupedBy(group, rivalName), names),
      names,
    }))
  }
  const byFamily = partedBy(points, familyOf)
  const bySize = partedBy(byFamily.alone, sizelessOf)
  const byRequest = [...groupedBy(bySize.alone, requestText).values()].flatMap(chunks)
  return [
    ...byFamily.together.map((group) => configurations(group, plainTitle(group[0]!))),
    ...bySize.together.map((group) => configurations(group, plainTitle(group[0]!).replace(TITLE_SIZE, ''))),
    ...byRequest.map((group) => configurations(group, requestText(group[0]!))),
  ]
}

/** Groups of several lines, and the points of those of a single one. */
function partedBy(
  points: readonly Point[],
  keyOf: (point: Point) => string,
): { together: (readonly Point[])[]; alone: Point[] } {
  const groups = [...groupedBy(points, keyOf).values()]
  const isAlone = (group: readonly Point[]): boolean => linesIn(group) === 1
  return { together: groups.filter((group) => !isAlone(group)), alone: groups.filter(isAlone).flat() }
}

/** A request with more configurations than there are colours gets several panels. */
function chunks(points: readonly Point[]): Point[][] {
  const byTitle = [...groupedBy(points, ({ title }) => title).values()]
  const parts: Point[][] = []
  for (let i = 0; i < byTitle.length; i += MOST_LINES) parts.push(byTitle.slice(i, i + MOST_LINES).flat())
  return parts
}

/** How many different values a panel has in this respect. */
export function distinct(group: Panel, value: (point: Point) => number): number {
  return new Set([...group.lines.values()].flat().map(value)).size
}

function panel(title: string, points: readonly Point[], nameOf: (point: Point) => string): Panel {
  const lines = groupedBy(points, nameOf)
  return { title, lines, names: [...lines.keys()] }
}

function ordered(lines: Panel['lines'], names: readonly string[]): Panel['lines'] {
  return new Map([...lines].toSorted(([a], [b]) => names.indexOf(a) - names.indexOf(b)))
}

function loggedName(contestant: string): string {
  return `${contestant}, Elasticsearch`
}

/** Lines are named by what of their title the title of the panel does not say. */
function configurations(points: readonly Point[], common: string): Panel {
  if (linesIn(points) === 1) return panel(points[0]!.title, points, ({ title }) => title)
  const nameOf = ({ title }: Point): string => {
    const rest = title.replace(common, '').replaceAll(/^[\s,:]+|\s+(?=,)|[\s,:]+$/g, '')
    return rest === '' ? title : rest
  }
  return panel(common, points, nameOf)
}

function rivalName({ contestant, log }: Point): string {
  return log === 'none' ? contestant : loggedName(contestant)
}

function familyOf(point: Point): string {
  const logless = withoutLog(point)
  return tierFamily({ ...point, scenario: logless }) ?? logless
}

const SIZE = /-\d+k?b\b/

function sizelessOf(point: Point): string {
  return familyOf(point).replace(SIZE, '')
}

function linesIn(points: readonly Point[]): number {
  return new Set(points.map(({ title }) => title)).size
}

const TITLE_SIZE = / \d+ (?:B|KB|KiB)\b/

/** Without tier and log, which tell the lines of the panel apart. */
function plainTitle({ title }: Point): string {
  return title.replace(/^W\d /, '').replace(', Elasticsearch', '')
}
