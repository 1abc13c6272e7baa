const CONTROLS = /[\u0000-\u001f\u007f]/

/** Returns true if a text has control characters, which headers and log lines cannot contain. */
export function hasControls(text: string): boolean {
  return CONTROLS.test(text)
}
