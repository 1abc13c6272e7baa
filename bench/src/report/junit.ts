import type { Point, Summary } from '../model/summary.js'
import type { Trial } from '../model/trial.js'
import { countText, isValid, kindText, significant } from './figures.js'
import { escaped } from './markup.js'
import { trialLine } from './trial-table.js'
import { countVerdicts, reasonsOf, verdictOf } from './trial-verdict.js'

/**
 * `junit.xml`: a test case a point or trial. A point that is no result has failed, with its reasons; a trial that is none
 * could not be judged, which is an error.
 */
export function junitXml(summary: Summary): string {
  const { points, trials = [] } = summary
  const failures = points.filter((point) => !isValid(point)).length + countVerdicts(trials, 'failed')
  const errors = countVerdicts(trials, 'no result')
  const counts = `tests="${points.length + trials.length}" failures="${failures}" errors="${errors}" skipped="0"`
  const started = escaped(summary.startedAt)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="gw bench" ${counts}>`,
    `  <testsuite name="${escaped(summary.suite)}" ${counts} timestamp="${started}">`,
    ...points.map(testCase),
    ...trials.map((trial) => trialCase(summary.suite, trial)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

/** A trial is a test case by itself. */
function trialCase(suite: string, trial: Trial): string {
  const head = `    <testcase classname="${escaped(`${suite}.${trial.id}`)}" name="${escaped(trial.title)}"`
  const verdict = verdictOf(trial)
  if (verdict === 'passed') return `${head}><system-out>${escaped(trialLine(trial))}</system-out></testcase>`
  const reasons = escaped(reasonsOf(trial).join('; '))
  const element = verdict === 'failed' ? 'failure' : 'error'
  return `${head}><${element} type="trial" message="${reasons}">${reasons}</${element}></testcase>`
}

function testCase(point: Point): string {
  const name = `${point.title}, ${point.contestant}, ${countText(point.connections)} connections, ${kindText(point)}`
  const head = `    <testcase classname="${escaped(`${point.suite}.${point.scenario}`)}" name="${escaped(name)}"`
  if (!isValid(point)) {
    const reasons = escaped(point.invalid.join('; '))
    return `${head}><failure type="invalid" message="${reasons}">${reasons}</failure></testcase>`
  }
  const said = `${countText(point.perSecond.mean)} requests/s, ${significant(point.cpuMicrosPerRequest.mean)} µs of CPU a request`
  return `${head}><system-out>${escaped(said)}</system-out></testcase>`
}
