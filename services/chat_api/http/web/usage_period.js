/** Days are texts like 2026-11-30, as the server writes them: no time zone of the browser can shift them. */

const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

const parse = (day) => Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1, Number(day.slice(8)));
const write = (time) => new Date(time).toISOString().slice(0, 10);

/** Whether that is a day of the calendar, written as such. */
export const isDay = (text) => DAY.test(text ?? "") && write(parse(text)) === text;

export const monthOf = (day) => day.slice(0, 7);
export const firstOf = (month) => `${month}-01`;

export function monthBefore(month) {
  const [year, number] = month.split("-").map(Number);
  return write(Date.UTC(year, number - 2, 1)).slice(0, 7);
}

function lastOf(month) {
  const [year, number] = month.split("-").map(Number);
  return write(Date.UTC(year, number, 0));
}

/** A month, and of the running one the days until today. */
export function periodOf(month, today) {
  const last = lastOf(month);
  return { from: firstOf(month), to: last > today && monthOf(today) === month ? today : last };
}

/** The same days of the month before, and all of it for a whole month; null for more than one month. */
export function comparedWith({ from, to }) {
  const month = monthOf(from);
  if (month !== monthOf(to)) return null;
  const before = monthBefore(month);
  const end = lastOf(before);
  if (Number(from.slice(8)) > Number(end.slice(8))) return null;
  const same = `${before}-${to.slice(8)}`;
  return { from: `${before}-${from.slice(8)}`, to: to === lastOf(month) || same > end ? end : same };
}

/** Every month from the first to the last one, the newest first. */
export function monthsBetween(first, last) {
  const months = [];
  for (let month = last; month >= first && months.length < 600; month = monthBefore(month)) months.push(month);
  return months;
}

/** Every day of the period, at most so many. */
export function daysBetween(from, to, atMost) {
  const days = [];
  for (let time = parse(from); time <= parse(to) && days.length < atMost; time += DAY_MS) days.push(write(time));
  return days;
}

export const asDate = (day) => new Date(parse(day));
