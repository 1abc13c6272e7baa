import type { Point, Summary } from '../model/summary.js'
import { countText, isValid, kindText, significant } from './figures.js'
import { escaped } from './markup.js'

/** `junit.xml`: a test case a point; one that is no result has failed, with its reasons. */
export function junitXml(summary: Summary): string {
  const failures = summary.points.filter((point) => !isValid(point)).length
  const counts = `tests="${summary.points.length}" failures="${failures}" errors="0" skipped="0"`
  const started = escaped(summary.startedAt)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="gw bench" ${counts}>`,
    `  <testsuite name="${escaped(summary.suite)}" ${counts} timestamp="${started}">`,
    ...summary.points.map(testCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
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
