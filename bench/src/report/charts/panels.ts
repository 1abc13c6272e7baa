import type { Point } from '../../model/summary.js'
import { contestantsOf } from '../rivals.js'
import { groupedBy, tierFamily, withoutLog } from '../scenario-relation.js'

/** Points that belong into one chart, each line with its name. */
export interface Panel {
  readonly title: string
  readonly lines: ReadonlyMap<string, readonly Point[]>
}

/**
 * With several contestants a panel is a scenario and the lines are who took part; with one it is a request and the lines
 * are the configurations. What would be a panel of one line joins those that differ in the size of the body only.
 */
export function panelsOf(points: readonly Point[]): Panel[] {
  if (contestantsOf(points).length > 1)
    return [...groupedBy(points, withoutLog).values()].map((group) =>
      panel(group[0]!.title, group, rivalName),
    )
  const families = [...groupedBy(points, familyOf).values()]
  const wide = families.filter((group) => linesIn(group) > 1)
  const narrow = families.filter((group) => linesIn(group) === 1).flat()
  return [...wide.map(configurations), ...[...groupedBy(narrow, sizelessOf).values()].map(configurations)]
}

/** How many different values a panel has in this respect. */
export function distinct(group: Panel, value: (point: Point) => number): number {
  return new Set([...group.lines.values()].flat().map(value)).size
}

function panel(title: string, points: readonly Point[], nameOf: (point: Point) => string): Panel {
  return { title, lines: groupedBy(points, nameOf) }
}

/** Lines are named by what of their title the title of the panel does not say. */
function configurations(points: readonly Point[]): Panel {
  const first = points[0]!
  if (linesIn(points) === 1) return panel(first.title, points, ({ title }) => title)
  const common = plainTitle(first)
  const nameOf = ({ title }: Point): string => {
    const rest = title.replace(common, '').replaceAll(/^[\s,]+|\s+(?=,)|[\s,]+$/g, '')
    return rest === '' ? title : rest
  }
  return panel(common, points, nameOf)
}

function rivalName({ contestant, log }: Point): string {
  return log === 'none' ? contestant : `${contestant}, Elasticsearch`
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

/** Without what tells the lines of the panel apart. */
function plainTitle({ title }: Point): string {
  return title
    .replace(/^W\d /, '')
    .replace(', Elasticsearch', '')
    .replace(/ \d+ (?:B|KB|KiB)$/, (size) => (title.includes('POST') ? size : ''))
}
