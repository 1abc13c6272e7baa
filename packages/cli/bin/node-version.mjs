/**
 * Why this version of Node.js will not do, in one line, or null: the engine, uWebSockets.js, comes compiled for
 * 20 and 22. The same as `engines` in every package.json. Plain enough for any Node.js that knows modules.
 */
export function unsuitableNode(program, version) {
  const [major, minor] = version.split('.').map(Number)
  if (major === 22 || (major === 20 && minor >= 19)) return null
  return `${program} needs Node.js 20.19 or later, or 22; this is ${version}. Install one of them and try again`
}
