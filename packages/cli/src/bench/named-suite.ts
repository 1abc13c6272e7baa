import { type Suite, suiteOf } from '@sluice/bench'
import { EXIT } from '../failure.js'
import { toolFailure } from './tool-failure.js'

/** The suite of a name. @throws Failure that lists the names, or says what the suite waits for. */
export function namedSuite(name: string): Suite {
  try {
    return suiteOf(name)
  } catch (error) {
    throw toolFailure(error, EXIT.usage)
  }
}
