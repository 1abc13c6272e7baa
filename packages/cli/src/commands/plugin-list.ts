import { readPlugins } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { AdminClient } from '../admin/admin-client.js'
import { readDocument } from '../input/document.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { EXIT } from '../output/failure.js'
import { print, printTable, printValue } from '../output/output.js'
import { kept, minor } from '../output/table.js'

interface ListOptions extends OutputOptions, ServerOptions {
  readonly config?: string
}

interface ListedPlugin {
  readonly name: string
  readonly version: string
  readonly contract: string
  readonly policies: readonly string[]
  readonly entry: string
  /** Reason why it cannot be used, or null. */
  readonly problem: string | null
}

/** Prints the plugins of a document, with the reason if one cannot be used, or the plugins of a gateway. */
export async function listPlugins(options: ListOptions, document?: string): Promise<number> {
  const file = document ?? options.config
  const plugins = file === undefined ? await ofGateway(options) : await ofDocument(file)
  if (options.output !== 'table') await printValue({ plugins }, options.output)
  else if (plugins.length === 0) print('no plugins')
  else {
    const rows = plugins.map((plugin) => [
      plugin.name,
      plugin.version,
      plugin.contract,
      plugin.policies.join(', '),
      plugin.problem ?? 'ok',
      plugin.entry,
    ])
    printTable(['PLUGIN', 'VERSION', minor('CONTRACT', 1), 'POLICIES', kept('STATE'), 'FROM'], rows)
  }
  return plugins.some(({ problem }) => problem !== null) ? EXIT.invalid : EXIT.ok
}

async function ofDocument(file: string): Promise<ListedPlugin[]> {
  const set = await readPlugins(await readDocument(file), catalog)
  return [...set].map(([name, found]) => {
    if ('message' in found)
      return { name, version: '', contract: '', policies: [], entry: '', problem: found.message }
    const { version, contract, entry } = found
    return { name, version, contract, policies: found.policies.map((one) => one.name), entry, problem: null }
  })
}

async function ofGateway(options: ServerOptions): Promise<ListedPlugin[]> {
  const { part } = await new AdminClient(options).get('/v1/status')
  return part.parts('plugins').map((plugin) => ({
    name: plugin.text('name'),
    version: plugin.text('version'),
    contract: plugin.text('contract'),
    policies: plugin.texts('policies'),
    entry: plugin.text('entry'),
    problem: null,
  }))
}
