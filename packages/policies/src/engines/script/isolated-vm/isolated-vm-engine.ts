import { type Engine, SCRIPT_NAME } from '../../../catalog/script/engine.js'
import { IsolatedSandbox } from './isolated-sandbox.js'
import type { IsolatedVm } from './isolated-vm-types.js'

const PACKAGE = 'isolated-vm'
/** From Node.js 20 on isolates share what it starts from, and may damage it; so it starts without. */
const NODE_OPTION = '--no-node-snapshot'

let loading: Promise<Engine> | null = null

/** Whether the package is there, be it one that can be loaded or not. */
export function isIsolatedVmInstalled(): boolean {
  try {
    import.meta.resolve(PACKAGE)
    return true
  } catch {
    return false
  }
}

/** What workers have to be started with for isolates: nothing where the package is not installed. */
export function isolatedVmOptions(): readonly string[] {
  return isIsolatedVmInstalled() ? [NODE_OPTION] : []
}

/** Whether the package is installed, and this process was started for it. */
export function isReadyForIsolates(): boolean {
  const { execArgv, env } = process
  const options = [...execArgv, ...(env['NODE_OPTIONS'] ?? '').split(/\s+/)]
  return options.includes(NODE_OPTION) && isIsolatedVmInstalled()
}

/**
 * Scripts in isolates of V8, several times as fast as QuickJS.
 * @throws Error where the package is not installed, or is one that this Node.js cannot load
 */
export function isolatedVmEngine(): Promise<Engine> {
  loading ??= load()
  return loading
}

async function load(): Promise<Engine> {
  if (!isIsolatedVmInstalled())
    throw new Error(`the package ${PACKAGE} is not installed; install it, or write engine: quickjs`)
  try {
    const { default: ivm } = (await import(PACKAGE)) as { readonly default: IsolatedVm }
    return { name: 'isolated-vm', open: async (program) => new IsolatedSandbox(ivm, program, SCRIPT_NAME) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(
      `${PACKAGE} is installed and cannot be loaded: ${reason}; install the version for Node.js ${process.version}, or write engine: quickjs`,
      { cause: error },
    )
  }
}
