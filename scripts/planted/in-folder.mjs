/** `at(file, test, defects)` for one folder of sources: each defect is noticed by that test, unless it names others. */
export const inFolder = (folder, tests) => (file, test, defects) =>
  defects.map((defect) => ({ file: `${folder}/${file}`, tests: [`${tests}/${test}.test.ts`], ...defect }))
