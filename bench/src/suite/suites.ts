import { suggestion } from '@sluice/config'
import type { Scenario, Suite } from '../model/scenario.js'
import { apinizer } from './apinizer.js'
import { apinizerCache } from './apinizer-cache.js'
import { apinizerClassic } from './apinizer-classic.js'
import { policies } from './policies.js'
import { proxy, smoke } from './proxy.js'
import { chaos, soak } from './trials.js'
import { wso2Mi } from './wso2-mi.js'
import { wso2Platform } from './wso2-platform.js'

/** Suites of this version. */
export const suites: readonly Suite[] = [
  smoke,
  proxy,
  apinizer,
  apinizerClassic,
  apinizerCache,
  wso2Mi,
  wso2Platform,
  policies,
  soak,
  chaos,
]

/** Returns a suite by name. @throws Error with the known names */
export function suiteOf(name: string): Suite {
  const suite = suites.find((one) => one.name === name)
  if (suite !== undefined) return suite
  const names = suites.map((one) => one.name)
  const list = `there are ${names.join(', ')}`
  const hint = suggestion(name, names, '')
  throw new Error(`there is no suite '${name}'; ${hint === '' ? list : `${hint} (${list})`}`)
}

/** Returns a scenario of a suite by their names. @throws Error if there is none */
export function scenarioOf(suite: string, id: string): Scenario {
  const { name, cases, variants = [] } = suiteOf(suite)
  const found = [...cases, ...variants].find(({ scenario }) => scenario.id === id)
  if (found !== undefined) return found.scenario
  throw new Error(`the suite '${name}' has no scenario '${id}'`)
}
