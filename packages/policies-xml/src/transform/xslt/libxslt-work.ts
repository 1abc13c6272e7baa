import type { OffloadedWork } from '@sluice/core'
import type { Transformed } from '@sluice/policies/shared/transformation/transformed'
import { type LibxsltConfig, type LibxsltInput, LibxsltRunner } from '../../engines/xslt/libxslt/runner.js'

/** Transforms with libxslt on a thread. */
export const work: OffloadedWork<LibxsltConfig, LibxsltInput, Transformed> = async (config) => {
  const runner = await LibxsltRunner.create(config)
  return (input) => runner.run(input)
}
