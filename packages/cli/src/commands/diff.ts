import { diffPlans, displayPlan, formatDiff, type Plan } from '@sluice/config'
import { visibleText } from '@sluice/core'
import { catalog } from '@sluice/policies'
import { AdminClient } from '../admin/admin-client.js'
import { loadFile } from '../input/document.js'
import type { DocumentOptions, OutputOptions, ServerOptions } from '../input/options.js'
import { EXIT } from '../output/failure.js'
import { print, printValue } from '../output/output.js'

interface DiffOptions extends DocumentOptions, OutputOptions, ServerOptions {
  readonly exitCode?: boolean
}

const MACHINE_HINT =
  'gw diff uses the environment variables and files of this shell; set them here, or use gw deploy --dry-run, which uses those of the gateway'

/** Prints the differences between a document and the running configuration. */
export async function diff(options: DiffOptions): Promise<number> {
  const load = await loadFile(options.config, MACHINE_HINT)
  const { plan, tag } = await servingPlan(new AdminClient(options))
  // The gateway masks the secrets in its plan, so mask ours too. The digest still shows whether they differ.
  const changes = diffPlans(plan, displayPlan(load.plan, catalog), catalog)
  const isSame = tag === `"${load.digest}"`
  const hidden = !isSame && changes.length === 0
  if (options.output !== 'table') await printValue({ different: !isSame, hidden, changes }, options.output)
  else if (isSame) print('no differences')
  else print(...(hidden ? ['~ secrets, or values behind references'] : formatDiff(changes).map(visibleText)))
  return !isSame && options.exitCode === true ? EXIT.differences : EXIT.ok
}

/** The running plan as far as it is shown, and its entity tag. */
interface ServingPlan {
  readonly plan: Plan
  /** The digest in double quotes, or null if the gateway sends none. */
  readonly tag: string | null
}

/** Gets the running plan of a gateway. @throws Failure */
export async function servingPlan(client: AdminClient): Promise<ServingPlan> {
  const { part, headers } = await client.get('/v1/plan')
  // Checks that it is a plan of a version that can be compared.
  for (const list of ['listeners', 'upstreams', 'routes']) part.parts(list)
  for (const object of ['admin', 'log', 'metrics', 'drain']) part.part(object)
  return { plan: part.value as unknown as Plan, tag: headers.etag ?? null }
}
