import type { Point, Summary } from '../../model/summary.js'
import type { Trial } from '../../model/trial.js'
import { median } from '../../statistics.js'
import { busyText, hasCost } from '../cost.js'
import { countText, isValid, microsText, percentileOf, ratioText, significant, sloText } from '../figures.js'
import { escaped } from '../markup.js'
import { contestantsOf, cpuRatio, OURS, rivalries, TARGET } from '../rivals.js'
import { countVerdicts, reasonsOf, type TrialVerdict, verdictOf } from '../trial-verdict.js'

interface Tile {
  readonly name: string
  readonly figure: string
  readonly remark: string
}

/** The figures that a reader wants first. */
export function glanceHtml({ points, trials }: Summary): string {
  const tiles =
    trials === undefined
      ? [...subjectTiles(points), ...ratioTiles(points), validityTile(points)]
      : [trialTile(trials)]
  const items = tiles.map(
    ({ name, figure, remark }) =>
      `<div><dt>${escaped(name)}</dt><dd>${escaped(figure)}<small>${escaped(remark)}</small></dd></div>`,
  )
  return `<dl class="glance">${items.join('')}</dl>`
}

/** What keeps the run, or a part of it, from being evidence. */
export function noticesHtml({ warnings, points, trials = [] }: Summary): string {
  const invalid = points.filter((point) => !isValid(point))
  const reasons = [...new Set(invalid.flatMap((point) => point.invalid))]
  const lists = [
    notice('notice', 'This run was warned of', warnings),
    notice(
      'notice bad',
      `No result: ${invalid.length} of ${points.length} points${costsAmong(invalid)}`,
      reasons,
    ),
    notice('notice bad', 'Trials that are not passed', trialLines(trials, 'failed')),
    notice('notice bad', 'Trials that are no result', trialLines(trials, 'no result')),
  ]
  return lists.join('')
}

/** How many of the points that are no results have a CPU time that is one. */
function costsAmong(invalid: readonly Point[]): string {
  const count = invalid.filter(hasCost).length
  return count === 0 ? '' : `, but CPU time of ${count} of them is`
}

function trialLines(trials: readonly Trial[], verdict: TrialVerdict): string[] {
  const told = trials.filter((trial) => verdictOf(trial) === verdict)
  return told.flatMap((trial) => reasonsOf(trial).map((reason) => `${trial.title}: ${reason}`))
}

function notice(style: string, heading: string, lines: readonly string[]): string {
  if (lines.length === 0) return ''
  const items = lines.map((line) => `<li>${escaped(line)}</li>`).join('')
  return `<div class="${style}"><h3>${escaped(heading)}</h3><ul>${items}</ul></div>`
}

/** Of whom the run is about: our gateway, or the server that took its place. */
function subjectTiles(points: readonly Point[]): Tile[] {
  const subject = points.some(({ contestant }) => contestant === OURS) ? OURS : TARGET
  const all = points.filter(({ contestant }) => contestant === subject)
  const valid = all.filter(isValid)
  const saturated = valid.filter(({ kind }) => kind === 'saturation')
  const fastest = saturated.toSorted((a, b) => b.perSecond.mean - a.perSecond.mean)[0]
  const throughput =
    fastest === undefined
      ? []
      : [
          {
            name: 'Highest throughput',
            figure: `${countText(fastest.perSecond.mean)}/s`,
            remark: placeOf(fastest),
          },
        ]
  return [...kneeTile(valid), ...throughput, ...costTile(all), ...rateTile(valid)]
}

/** Of a contestant that was full, where there is one: the others cost more than they need to. */
function costTile(points: readonly Point[]): Tile[] {
  const costs = points.filter((point) => hasCost(point) && point.kind === 'saturation')
  const full = costs.filter(isValid)
  const [leanest] = (full.length > 0 ? full : costs).toSorted(
    (a, b) => a.cpuMicrosPerRequest.mean - b.cpuMicrosPerRequest.mean,
  )
  if (leanest === undefined) return []
  const remark = `${placeOf(leanest)}${busyText(leanest)}`
  return [
    { name: 'Least CPU a request', figure: `${significant(leanest.cpuMicrosPerRequest.mean)} µs`, remark },
  ]
}

/** The highest of the rates that were searched for, with its P99. */
function kneeTile(points: readonly Point[]): Tile[] {
  const knees = points.filter(({ sloMicros }) => sloMicros !== undefined)
  const highest = knees.toSorted((a, b) => (b.targetPerSecond ?? 0) - (a.targetPerSecond ?? 0))[0]
  if (highest === undefined) return []
  const name = `Highest rate with ${sloText(highest.sloMicros ?? 0)}`
  const remark = `${placeOf(highest)}, P99 ${microsText(percentileOf(highest.latency, 99))}`
  return [{ name, figure: `${countText(highest.targetPerSecond ?? 0)}/s`, remark }]
}

/** The highest rate that was held for the request with the most such points, with its P99. */
function rateTile(points: readonly Point[]): Tile[] {
  const held = points.filter(
    ({ kind, latency, sloMicros }) => kind === 'fixed-rate' && latency !== null && sloMicros === undefined,
  )
  const highest = held.toSorted((a, b) => (b.targetPerSecond ?? 0) - (a.targetPerSecond ?? 0))[0]
  if (highest === undefined) return []
  const figure = microsText(percentileOf(highest.latency, 99))
  const rate = `${countText(highest.targetPerSecond ?? 0)}/s`
  return [{ name: `P99 at ${rate}`, figure, remark: `${placeOf(highest)}, the highest rate held` }]
}

function ratioTiles(points: readonly Point[]): Tile[] {
  const found = rivalries(points, hasCost)
  return contestantsOf(points)
    .filter((name) => name !== OURS)
    .flatMap((rival) => {
      const ratios = found.map((rivalry) => cpuRatio(rivalry, rival)).filter(Number.isFinite)
      if (ratios.length === 0) return []
      const remark = `median of ${ratios.length} points, ${ratioText(Math.min(...ratios))} to ${ratioText(Math.max(...ratios))}`
      return [{ name: `CPU over ${rival}’s`, figure: `${ratioText(median(ratios))} ×`, remark }]
    })
}

function validityTile(points: readonly Point[]): Tile {
  const valid = points.filter(isValid).length
  const remark =
    valid === points.length ? 'every point is a result' : `invalid: ${points.length - valid}, see below`
  return { name: 'Points', figure: `${valid} of ${points.length}`, remark }
}

function trialTile(trials: readonly Trial[]): Tile {
  const passed = countVerdicts(trials, 'passed')
  const none = countVerdicts(trials, 'no result')
  const failed = trials.length - passed - none
  const rest = none === 0 ? 'nothing was lost that may not be' : `${none} say nothing, see below why`
  const remark = failed === 0 ? rest : 'see below what was lost'
  return { name: 'Trials passed', figure: `${passed} of ${trials.length}`, remark }
}

function placeOf({ title, connections }: Point): string {
  return `${title}, ${countText(connections)} connections`
}
