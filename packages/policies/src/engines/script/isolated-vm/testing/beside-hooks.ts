import type { InitializeHook, ResolveHook } from 'node:module'

let home = ''

/** Called by Node.js with the `data` of `register`: a file in the folder that contains the package. */
export const initialize: InitializeHook<string> = (data) => {
  home = data
}

/** Called by Node.js for every import. */
export const resolve: ResolveHook = (specifier, context, nextResolve) =>
  nextResolve(specifier, specifier === 'isolated-vm' ? { ...context, parentURL: home } : context)
