/** The part of the isolated-vm API that the gateway uses. The package is an optional dependency. */
export interface IsolatedVm {
  readonly Isolate: new (options: { readonly memoryLimit: number }) => Isolate
}

/** A V8 isolate with its own heap. */
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

/** A reference to a value inside an isolate. */
export interface Reference {
  getSync(name: string, options: { readonly reference: true }): Reference
  derefInto(): object
  applySync(receiver: undefined, args: readonly unknown[], options: Timed): unknown
}
