// Runs inside the sandbox (see runtime.ts), so it may use only code of this folder.

/** Removes globals that compile code from text, observe garbage collection, share memory, block or print. */
export function removeGlobals(): void {
  const names = ['eval', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'WebAssembly']
  for (const name of [...names, 'gc', 'print', 'console', 'escape', 'unescape'])
    Reflect.deleteProperty(globalThis, name)
  // V8 exposes the last match of any script here.
  for (const key of Reflect.ownKeys(RegExp)) {
    if (typeof key === 'string' && !['prototype', 'length', 'name', 'escape'].includes(key))
      Reflect.deleteProperty(RegExp, key)
  }
}

/** Replaces the function constructors, which compile code from text, with functions that throw. */
export function removeFunctionConstructors(samples: readonly object[]): void {
  for (const sample of samples) {
    const prototype = Object.getPrototypeOf(sample) as object
    const refuse = (): never => {
      throw new TypeError('a script cannot compile code from text')
    }
    const replacement = { Function: refuse }.Function
    Object.defineProperty(replacement, 'prototype', { value: prototype })
    Object.defineProperty(prototype, 'constructor', { value: replacement })
  }
  Object.defineProperty(globalThis, 'Function', { value: Object.getPrototypeOf(removeGlobals).constructor })
}

/**
 * Lets objects define properties that a frozen prototype also has, such as `this.name = …` in an error class, or a
 * map of names from a client. Otherwise the assignment would throw.
 */
export function allowOverrides(prototype: object): void {
  for (const key of Reflect.ownKeys(prototype)) {
    const found = Object.getOwnPropertyDescriptor(prototype, key)!
    if (!('value' in found) || found.configurable !== true) continue
    const { value } = found
    Object.defineProperty(prototype, key, {
      get: () => value as unknown,
      set(this: unknown, next: unknown) {
        if (this === prototype) throw new TypeError(`'${String(key)}' is shared and cannot be changed`)
        const own = { value: next, writable: true, enumerable: true, configurable: true }
        Object.defineProperty(this, key, own)
      },
      enumerable: false,
      configurable: false,
    })
  }
}

/** Freezes all objects reachable from these, so that no call can leave state for the next. */
export function freezeAll(roots: readonly unknown[]): void {
  const seen = new Set<unknown>()
  const open = [...roots]
  while (open.length > 0) {
    const next = open.pop()
    if ((typeof next !== 'object' && typeof next !== 'function') || next === null || seen.has(next)) continue
    seen.add(next)
    open.push(Object.getPrototypeOf(next))
    for (const key of Reflect.ownKeys(next)) {
      const found = Object.getOwnPropertyDescriptor(next, key)!
      open.push(found.value, found.get, found.set)
    }
    Object.freeze(next)
  }
}

/** Hardens the realm before the user's script is loaded. */
export function harden(own: readonly unknown[]): void {
  const functions = [() => {}, async () => {}, function* () {}, async function* () {}]
  removeGlobals()
  removeFunctionConstructors(functions)
  const errors = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]
  for (const { prototype } of [Object, ...errors]) allowOverrides(prototype)
  const iterators = [[][Symbol.iterator](), new Map().entries(), new Set().entries(), ''[Symbol.iterator]()]
  freezeAll([globalThis, ...own, ...functions, ...iterators, 'a'.matchAll(/a/g), Promise.resolve()])
}

/** Functions and classes to copy into the sandbox. */
export const HARDEN_PARTS = [removeGlobals, removeFunctionConstructors, allowOverrides, freezeAll, harden]
