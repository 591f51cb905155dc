/** Something to wait for, that a test opens. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let resolve: () => void
  const opened = new Promise<void>((done) => (resolve = done))
  return { opened, open: () => resolve() }
}
