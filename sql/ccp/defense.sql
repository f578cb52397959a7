-- needs: ccp/morale.sql
-- Fire Defense rolls in ccp: morale of the moment, Cover against what was fired, and what comes of the roll: O27.3.4, 5.6, 15.2.2, F102.2.3, F104.2, T81.3.

drop type if exists ccp.defence cascade;
create type ccp.defence as (
  state positions.state,
  stat ccp.stat,
  crowd ccp.crowd,
  covers ccp.cover array,
  source text,
  chosen text,
  excess integer,
  inside boolean,
  mover boolean
);

comment on type ccp.defence is
'A unit that must make a Defense roll: against what, and with how many too many in its hex.';
comment on column ccp.defence.excess is 'Soldier figures above seven when the attack was rolled (ccp-42)';
comment on column ccp.defence.inside is 'Whether the cave of its hex counts for it';
comment on column ccp.defence.mover is 'Whether it is named as the one that has just moved';

create or replace function ccp._defence_cover(defence ccp.defence)
returns integer
language sql immutable
return case
  when defence.source in ('flamethrower', 'mines')
    then case when (defence.state).readings ->> 'ccp-16' = 'b' then -(defence.crowd).excess else 0 end
  else coalesce(
    (
      select max(found.value)
      from unnest(defence.covers) as found
      where (defence.inside or not found.inside)
        and (defence.state).readings ->> 'ccp-15' = 'a'
        and found.source = replace(defence.chosen, '_', ' ')
    ),
    ccp._cover(defence.covers, defence.inside)
  ) - case when (defence.state).readings ->> 'ccp-42' = 'b' then defence.excess else (defence.crowd).excess end
end;

comment on function ccp._defence_cover(ccp.defence) is
'The Cover of a Defense roll: the one chosen or the best, less overstacking (T81.3.2); 0 against flamethrowers and mines.';

create or replace function ccp._breaks_on_tie(defence ccp.defence)
returns boolean
language sql immutable parallel safe
return defence.mover or (
  (defence.state).readings ->> 'ccp-18' = 'a'
  and coalesce((defence.stat).attributes ->> 'activated' = 'move', false)
);

comment on function ccp._breaks_on_tie(ccp.defence) is
'Whether a unit breaks where another is suppressed: it is activated to Move (O27.3.4, ccp-18).';

create or replace function ccp._defence_steps(defence ccp.defence, cover integer)
returns setof rulings.ledger_step
language sql stable rows 6
as $$
  select fact.rule, fact.clause, (defence.crowd).label, fact.effect, fact.note, fact.point, (defence.stat).code,
    null::integer, null::jsonb
  from (
    select 1 as n, step.rule, null::text as clause, step.effect, step.note, null::text as point
    from ccp._cover_steps(defence.covers) as step
    where defence.source not in ('flamethrower', 'mines')
    union all
    select entry.n, entry.rule, entry.clause, entry.effect, entry.note, entry.point
    from (
      values
      (
        2, defence.source in ('flamethrower', 'mines'),
        case defence.source when 'mines' then 'F104.2' else '5.6' end, null, '0', 'Cover, which nothing changes', null
      ),
      (
        3, (defence.crowd).excess > 0 and defence.source in ('flamethrower', 'mines'), '15.2.2', null,
        case when (defence.state).readings ->> 'ccp-16' = 'b' then 'less' else 'passes' end,
        'soldier figures above seven', 'ccp-16'
      ),
      (
        3, (defence.crowd).excess > 0 and defence.source not in ('flamethrower', 'mines'), '15.2.2', null,
        (-(defence.crowd).excess)::text, 'Cover, by soldier figures above seven', null
      ),
      (
        4,
        (defence.crowd).excess <> defence.excess and defence.source not in ('flamethrower', 'mines'), '15.2.2', null,
        'counted anew', 'since the attack was rolled the hex has fewer figures', 'ccp-42'
      ),
      (
        5, defence.chosen is not null and cardinality(defence.covers) > 1, 'T81.3.1', null, 'chosen',
        format('its owner names %s', replace(defence.chosen, '_', ' ')), 'ccp-15'
      )
    ) as entry (n, holds, rule, clause, effect, note, point)
    where entry.holds
    union all
    select 10 + step.n, step.rule, null, step.effect, step.note, step.point
    from ccp._morale_steps(defence.stat, cover) as step
    union all
    select 30, 'O27.3.4', 'c', 'tie', 'activated to Move: what a tie does to it', 'ccp-18'
    where (defence.stat).attributes ->> 'activated' = 'move'
      and not defence.mover
  ) as fact
  order by fact.n, fact.rule, fact.note
$$;

comment on function ccp._defence_steps(ccp.defence, integer) is
'What makes a Defense Total: Cover, overstacking, morale with command, markers and wire (O27.3.4).';

create or replace function ccp.defense(
  position_id bigint, unit text, said jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  defence ccp.defence;
  asked positions.counter := ccp._on_map(defense.position_id, defense.unit);
  cover integer;
  morale integer;
begin
  defence.state := (
    select row(state.*)::positions.state
    from positions.state(defense.position_id, defense.conditions, defense.policy) as state
  );
  defence.stat := (
    select row(stat.*)::ccp.stat from ccp._stats(defence.state) as stat where stat.id = asked.id
  );
  defence.crowd := ccp._crowd(defence.state, asked.q, asked.r);
  defence.source := defense.said ->> 'source';
  defence.chosen := defense.said ->> 'chosen';
  defence.excess := coalesce((defense.said ->> 'excess')::integer, (defence.crowd).excess);
  defence.mover := coalesce((defense.said ->> 'mover')::boolean, false);
  defence.inside := ccp._is_inside(defence.stat) and coalesce((defense.said ->> 'cave')::boolean, true);
  defence.covers := array(
    select row(found.*)::ccp.cover
    from ccp._covers(
      defence.state, asked.q, asked.r,
      case defence.source when 'dive_bomber' then 'aircraft' when 'fighter' then 'aircraft' else defence.source end,
      coalesce((defense.said ->> 'cave')::boolean, true)
    ) as found
    where not found.inside or defence.inside
  );
  cover := coalesce(ccp._defence_cover(defence), 0);
  morale := case when (defence.stat).untold is null then ccp._morale(defence.stat, cover) end;
  return query select * from ccp._defence_steps(defence, cover);
  if morale is null then
    return next row(
      case when (defence.stat).untold is null then '3.1.4' else '3.3.1.2' end, null, asked.label, 'unknown',
      case
        when (defence.stat).untold is null then format('the morale of %s', asked.code)
        else format('the command number of %s', (defence.stat).untold)
      end, null, asked.code, null, null
    )::rulings.ledger_step;
  end if;
  return next row(
    'O27.3.4', null, asked.label, coalesce(morale::text, 'unknown'),
    case when morale is null then format('what %s defends with', asked.code) else format('%s: its morale', asked.code) end,
    null, asked.code, 2 * morale,
    jsonb_build_object(
      'cover', cover, 'morale', morale,
      'tie', case when ccp._breaks_on_tie(defence) then 'breaks' else 'suppressed' end
    )
  )::rulings.ledger_step;
end
$$;

comment on function ccp.defense(bigint, text, jsonb, jsonb, jsonb) is
'What a unit makes its Defense roll with: morale with Cover against what was fired, and what a tie does to it (O27.3.4).
`said` has source, cave, chosen, excess, mover.';

create or replace function ccp.defense_result(
  unit text, label text, attack integer, morale integer, roll integer, on_tie text
)
returns setof rulings.ledger_step
language sql immutable rows 1
as $$
  select 'O27.3.4', found.clause, label, found.result,
    format('%s: a Defense Total of %s against %s', unit, morale + roll, attack), null::text, unit, 2 * (morale + roll),
    jsonb_build_object('total', morale + roll, 'result', found.result)
  from (
    select case
      when 2 * (morale + roll) <= attack then 'a'
      when morale + roll < attack then 'b'
      when morale + roll = attack then 'c'
      else 'd'
    end as clause
  ) as item
  cross join lateral (
    select
      item.clause,
      case item.clause when 'a' then 'eliminated' when 'b' then 'breaks' when 'c' then on_tie else 'none' end as result
  ) as found
$$;

comment on function ccp.defense_result(text, text, integer, integer, integer, text) is
'What a Defense roll comes to against the Attack Total, by the morale with which it was made (O27.3.4, 1.9.1.3).';

create or replace function ccp.figures_over(position_id bigint, label text)
returns integer
language sql stable
as $$
  select greatest(0, coalesce(sum(ccp._figures(unit.kind)), 0) - 7)::integer
  from public.position
  inner join public.hex on hex.map_id = position.map_id and hex.label = figures_over.label
  inner join public.unit on unit.position_id = position.id and unit.q = hex.q and unit.r = hex.r
  where position.id = figures_over.position_id
$$;

comment on function ccp.figures_over(bigint, text) is
'Soldier figures above seven in a hex (15.2.1).';
