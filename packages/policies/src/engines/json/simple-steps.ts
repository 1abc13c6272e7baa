/** One step of a simple path: `.name`, `['name']`, `["name"]` or `[3]`. */
const STEP =
  /\.([A-Za-z_]\w*)|\[(0|-?[1-9]\d{0,13})\]|\['([^'\\\u0000-\u001f]*)'\]|\["([^"\\\u0000-\u001f]*)"\]/y

/** Names and positions of a JSON path that has nothing else; null: it is another kind of path, or none. */
export function simpleSteps(path: string): readonly (string | number)[] | null {
  if (!path.startsWith('$')) return null
  const steps: (string | number)[] = []
  let at = 1
  while (at < path.length) {
    STEP.lastIndex = at
    const match = STEP.exec(path)
    if (match === null) return null
    steps.push(match[2] === undefined ? (match[1] ?? match[3] ?? match[4]!) : Number(match[2]))
    at = STEP.lastIndex
  }
  return steps
}
