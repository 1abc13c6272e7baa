import { comingSuites, type Suite, type SuiteCase, suites, type TrialPlan } from '@sluice/bench'
import { EXIT } from '../failure.js'
import { printTable, printValue } from '../output/output.js'
import { ageText } from '../output/text.js'
import type { OutputOptions } from '../program/building.js'
import { runSize } from './estimate.js'
import { namedSuite } from './named-suite.js'
import { USUAL_RATES } from './run-order.js'

/** `gw bench list`: all suites, or the scenarios of one. */
export async function listSuites({ output }: OutputOptions, name?: string): Promise<number> {
  if (name !== undefined) return listScenarios(namedSuite(name), output)
  if (output !== 'table') await printValue({ suites: suites.map(described), coming: comingSuites }, output)
  else
    printTable(
      ['SUITE', 'SCENARIOS', 'POINTS', 'FULL RUN', 'WHAT IT MEASURES'],
      [
        ...suites.map((suite) => {
          const { scenarios, points, seconds } = described(suite)
          return [suite.name, String(scenarios), String(points), ageText(seconds * 1000), suite.description]
        }),
        ...comingSuites.map(({ name: coming, description, needs }) => [
          coming,
          '-',
          '-',
          '-',
          `not available: needs ${needs} (${description})`,
        ]),
      ],
    )
  return EXIT.ok
}

async function listScenarios(suite: Suite, output: OutputOptions['output']): Promise<number> {
  if (suite.trials !== undefined) return listTrials(suite.name, suite.trials, output)
  const usual = suite.cases.map((one) => listed(one, true))
  const scenarios = [...usual, ...(suite.variants ?? []).map((one) => listed(one, false))]
  if (output !== 'table') await printValue({ suite: suite.name, scenarios }, output)
  else
    printTable(
      ['SCENARIO', 'TITLE', 'MEASURED', 'LOG', 'PEERS', 'CONNECTIONS'],
      scenarios.map(({ id, title, isUsual, log, peers, connections }) => [
        id,
        title,
        isUsual ? 'always' : 'if named',
        log,
        peers ? 'yes' : 'no',
        connections.join(' '),
      ]),
    )
  return EXIT.ok
}

async function listTrials(
  suite: string,
  trials: readonly TrialPlan[],
  output: OutputOptions['output'],
): Promise<number> {
  if (output !== 'table') await printValue({ suite, trials }, output)
  else
    printTable(
      ['TRIAL', 'WORKERS', 'LOG', 'CONNECTIONS', 'WHAT IS DONE'],
      trials.map(({ id, workers, log, connections, action }) => [
        ...[id, String(workers), log, String(connections), action],
      ]),
    )
  return EXIT.ok
}

function listed({ scenario: { id, title, tier, log, peers }, connections }: SuiteCase, isUsual: boolean) {
  return { id, title, tier, log, peers: peers !== null, connections, isUsual }
}

function described(suite: Suite) {
  const { name, description, reproduces } = suite
  const size = runSize(suite, { ...suite, rates: USUAL_RATES.length, hasKnee: false, engines: 1, peers: 0 })
  return { name, description, reproduces, ...size }
}
