/** The part of isolated-vm that is used here; the package is installed by those who want it. */
export interface IsolatedVm {
  readonly Isolate: new (options: { readonly memoryLimit: number }) => Isolate
}

export interface Isolate {
  readonly isDisposed: boolean
  createContextSync(): object
  compileScriptSync(code: string, options: Named): Script
  compileModuleSync(code: string, options: Named): Module
  getHeapStatisticsSync(): { readonly used_heap_size: number; readonly externally_allocated_size: number }
  dispose(): void
}

interface Named {
  readonly filename: string
}

interface Script {
  runSync(context: object, options: Timed & { readonly reference: true }): Reference
}

interface Module {
  readonly namespace: Reference
  instantiateSync(context: object, resolve: (specifier: string) => never): void
  evaluateSync(options: Timed): void
}

interface Timed {
  readonly timeout: number
}

export interface Reference {
  getSync(name: string, options: { readonly reference: true }): Reference
  derefInto(): object
  applySync(receiver: undefined, args: readonly unknown[], options: Timed): unknown
}
