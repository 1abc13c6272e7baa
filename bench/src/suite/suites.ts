import { suggestion } from '@sluice/config'
import type { Suite } from '../model/scenario.js'
import { apinizer } from './apinizer.js'
import { apinizerClassic } from './apinizer-classic.js'
import { policies } from './policies.js'
import { proxy, smoke } from './proxy.js'
import { chaos, soak } from './trials.js'
import { wso2Mi } from './wso2-mi.js'
import { wso2Platform } from './wso2-platform.js'

/** Suites that a later version brings: known by name, so that who asks for one learns what it waits for. */
export const comingSuites = [
  {
    name: 'apinizer-cache',
    description: 'tiers W1 to W8, GET and PUT of cached entries',
    needs: 'the cache component',
  },
]

/** All suites of this version. */
export const suites: readonly Suite[] = [
  smoke,
  proxy,
  apinizer,
  apinizerClassic,
  wso2Mi,
  wso2Platform,
  policies,
  soak,
  chaos,
]

/** The suite of a name. @throws Error that lists the names. */
export function suiteOf(name: string): Suite {
  const suite = suites.find((one) => one.name === name)
  if (suite !== undefined) return suite
  const coming = comingSuites.find((one) => one.name === name)
  if (coming !== undefined) throw new Error(`the suite '${name}' is not available: needs ${coming.needs}`)
  const names = suites.map((one) => one.name)
  const list = `there are ${names.join(', ')}`
  const hint = suggestion(name, names, '')
  throw new Error(`there is no suite '${name}'; ${hint === '' ? list : `${hint} (${list})`}`)
}
