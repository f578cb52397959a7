-- needs: positions/state.sql, rulings/step.sql
-- The frame of command, the same in every game: what each who might command says, what command brings, the verdict.
--
-- A game has `_command_steps` (every rule that speaks on whether somebody commands the unit, its
-- row `commands`, `does not command` or `unknown`) and `_command_gifts`; its `command` is these
-- two, and the verdict from here last.

create or replace function positions._command_verdict(commanded boolean, untold boolean)
returns text
language sql immutable parallel safe
return case
  when commanded then 'in command'
  when untold then 'unknown'
  else 'out of command'
end;

comment on function positions._command_verdict(boolean, boolean) is
'One that commands is enough; else what a counter does not tell leaves it open.';

create or replace function positions._command_verdict(
  unit positions.counter,
  steps rulings.command_step[],
  rule text,
  commanded text,
  uncommanded text,
  untold text default 'what a counter does not tell would decide it'
)
returns rulings.command_step
language plpgsql immutable parallel safe
as $$
declare
  verdict text := positions._command_verdict(
    exists (select from unnest(steps) as step where step.effect = 'commands'),
    exists (select from unnest(steps) as step where step.effect = 'unknown')
  );
begin
  return row(
    rule,
    null,
    unit.label,
    verdict,
    case
      when unit.q is null then format('%s is not on the map', unit.code)
      when verdict = 'in command' then commanded
      when verdict = 'unknown' then untold
      else uncommanded
    end,
    null,
    null
  )::rulings.command_step;
end
$$;

comment on function positions._command_verdict(positions.counter, rulings.command_step[], text, text, text, text) is
'The last row of command, from what everybody who might command has said; with a note for each verdict.';
