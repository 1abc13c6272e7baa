import { ageText, printTable, printValue } from '@sluice/cli/kit'
import type { Suite } from '../model/scenario.js'
import { suites } from '../suite/suites.js'
import { loadSeconds } from './load-seconds.js'
import { namedSuite } from './run.js'
import { USUAL_RATES } from './run-options.js'

interface ListFlags {
  readonly output: 'table' | 'json' | 'yaml'
}

/** `gw bench list`: prints all suites, or the scenarios of one. */
export async function listSuites({ output }: ListFlags, name?: string): Promise<void> {
  const [headings, rows, value] = name === undefined ? allSuites() : scenariosOf(namedSuite(name))
  if (output === 'table') printTable(headings, rows)
  else await printValue(value, output)
}

type Listing = readonly [headings: string[], rows: string[][], value: object]

function allSuites(): Listing {
  const described = suites.map((suite) => {
    const { name, description, reproduces, cases, trials = [] } = suite
    const rateShares = USUAL_RATES.map((percent) => percent / 100)
    const seconds = loadSeconds({ ...suite, suite, peers: [], coolDownSeconds: 0, rateShares })
    const points = cases.reduce((sum, { connections }) => sum + connections.length, 0)
    return { name, description, reproduces, scenarios: cases.length + trials.length, points, seconds }
  })
  const rows = described.map(({ name, scenarios, points, seconds, description }) => [
    ...[name, String(scenarios), String(points), ageText(seconds * 1000), description],
  ])
  const headings = ['SUITE', 'SCENARIOS', 'POINTS', 'FULL RUN', 'WHAT IT MEASURES']
  return [headings, rows, { suites: described }]
}

function scenariosOf({ name, cases, variants = [], trials }: Suite): Listing {
  if (trials !== undefined) {
    const rows = trials.map(({ id, workers, log, connections, action }) => [
      ...[id, String(workers), log, String(connections), action],
    ])
    return [['TRIAL', 'WORKERS', 'LOG', 'CONNECTIONS', 'WHAT IS DONE'], rows, { suite: name, trials }]
  }
  const scenarios = [...cases, ...variants].map((one) => {
    const { id, title, tier, log, isPlainProxy } = one.scenario
    return { id, title, tier, log, isPlainProxy, connections: one.connections, isUsual: cases.includes(one) }
  })
  const rows = scenarios.map(({ id, title, isUsual, log, isPlainProxy, connections }) => [
    ...[id, title, isUsual ? 'always' : 'if named', log],
    ...[isPlainProxy ? 'yes' : 'no', connections.join(' ')],
  ])
  const headings = ['SCENARIO', 'TITLE', 'MEASURED', 'LOG', 'PEERS', 'CONNECTIONS']
  return [headings, rows, { suite: name, scenarios }]
}
