import { type Engine, SCRIPT_NAME } from '../engine.js'
import { IsolatedSandbox } from './isolated-sandbox.js'
import type { IsolatedVm } from './isolated-vm-types.js'

const PACKAGE = 'isolated-vm'
/** Node.js option that turns off the startup snapshot. Since Node.js 20, isolates share it and may damage it. */
const NODE_OPTION = '--no-node-snapshot'

let loading: Promise<Engine> | null = null

/** Returns true if the package is installed, even if it cannot be loaded. */
export function isIsolatedVmInstalled(): boolean {
  try {
    import.meta.resolve(PACKAGE)
    return true
  } catch {
    return false
  }
}

/** Returns the Node.js options that workers need for isolates, or none if the package is not installed. */
export function isolatedVmOptions(): readonly string[] {
  return isIsolatedVmInstalled() ? [NODE_OPTION] : []
}

/** Returns true if the package is installed and this process has the required Node.js option. */
export function isReadyForIsolates(): boolean {
  const { execArgv, env } = process
  const options = [...execArgv, ...(env['NODE_OPTIONS'] ?? '').split(/\s+/)]
  return options.includes(NODE_OPTION) && isIsolatedVmInstalled()
}

/**
 * Returns the engine that runs scripts in V8 isolates, several times as fast as QuickJS.
 * @throws Error if the package is not installed or does not support this Node.js version
 */
export function isolatedVmEngine(): Promise<Engine> {
  loading ??= load()
  return loading
}

async function load(): Promise<Engine> {
  if (!isIsolatedVmInstalled())
    throw new Error(`the package ${PACKAGE} is not installed; install it, or set engine: quickjs`)
  try {
    const { default: ivm } = (await import(PACKAGE)) as { readonly default: IsolatedVm }
    return { name: 'isolated-vm', open: async (program) => new IsolatedSandbox(ivm, program, SCRIPT_NAME) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(
      `cannot load ${PACKAGE}: ${reason}; install the version for Node.js ${process.version}, or set engine: quickjs`,
      { cause: error },
    )
  }
}
