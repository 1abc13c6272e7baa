import { formatSize } from '@sluice/core'
import type { SoakFigures, Trial, TrialPhase } from '../model/trial.js'
import { countText, microsText } from './figures.js'
import { verdictText } from './trial-verdict.js'

const HEADINGS = [
  'trial',
  'load/s',
  'requests',
  'no answer',
  'sent again',
  'own 5xx',
  'upstream 5xx',
  'records lost',
  'P99 before',
  'during',
  'after',
  'well after',
  'verdict',
]

/** Trials for people, under a row of headings. */
export function trialTable(trials: readonly Trial[]): string[][] {
  return [HEADINGS, ...trials.map(row)]
}

function row(trial: Trial): string[] {
  return [
    trial.title,
    countText(trial.targetPerSecond),
    countText(trial.requests),
    countText(unansweredOf(trial)),
    countText(trial.sentAgain),
    countText(trial.gatewayErrors),
    countText(trial.upstreamErrors),
    lostText(trial),
    ...(['before', 'during', 'after'] as const).map((name) => p99Text(trial.phases, name)),
    trial.recoveredSeconds === null ? 'not seen' : secondsText(trial.recoveredSeconds),
    verdictText(trial),
  ]
}

function secondsText(seconds: number): string {
  return Number.isFinite(seconds) ? `${seconds.toFixed(1)} s` : '–'
}

function unansweredOf({ errors }: Trial): number {
  return errors.connect + errors.reset + errors.timeout + errors.other
}

/** Whether the log knows of them or not. */
function lostText({ log }: Trial): string {
  return log === null ? '–' : countText(log.dropped + Math.max(0, log.missing))
}

function p99Text(phases: readonly TrialPhase[], wanted: TrialPhase['name']): string {
  return microsText(phases.find(({ name }) => name === wanted)?.p99Micros ?? null)
}

/** What else a trial has to say in a line: what was done, what became of records, workers, memory and files. */
export function trialLine(trial: Trial): string {
  const { title, action, actedFromSeconds, actedToSeconds, log, newWorkers, soak } = trial
  const span = `${secondsText(actedFromSeconds)} to ${secondsText(actedToSeconds)} after the load began`
  const parts = [
    `${action}, ${span}`,
    `${countText(trial.connections)} connections, ${countText(trial.targetPerSecond)} requests/s of ${countText(trial.saturationPerSecond)} at saturation`,
    ...(log === null
      ? []
      : [
          `${countText(log.documents)} documents, ${countText(log.dropped)} dropped, ${countText(log.dead)} dead letters, ${countText(log.repeated)} repeated, all delivered ${secondsText(trial.deliveredSeconds ?? Number.NaN)} after the load`,
        ]),
    ...(newWorkers === 0 ? [] : [`${countText(newWorkers)} workers took the place of others`]),
    `${countText(trial.origin.requests)} requests reached the origin`,
    ...(soak === undefined ? [] : soakParts(soak)),
  ]
  return `${title}: ${parts.join('; ')}`
}

function soakParts(soak: SoakFigures): string[] {
  const { reloads, failedReloads, rssBytes, files, spanSeconds } = soak
  const [rss, rssEnd] = rssBytes.map((bytes) => formatSize(Math.round(bytes)))
  return [
    `${countText(reloads)} reloads, ${countText(failedReloads)} failed`,
    `heap ${slopeText(soak)} over ${countText(spanSeconds)} s`,
    `memory ${rss} to ${rssEnd}`,
    `open files ${countText(files[0])} to ${countText(files[1])}`,
  ]
}

function slopeText({ heap }: SoakFigures): string {
  if (heap === null) return 'not seen'
  const { bytesPerHour, bytesPerHourError } = heap
  const megabytes = (bytes: number): string => (bytes / 1024 ** 2).toFixed(1)
  return `${bytesPerHour < 0 ? '−' : '+'}${megabytes(Math.abs(bytesPerHour))} MB an hour (± ${megabytes(bytesPerHourError)})`
}
