-- needs: ccp/points.sql
-- Where an eliminated ccp unit goes, and whether that ends the game: 3.3.2, 11.2, 13.3, 17.2.

create or replace function ccp._casualty_space(state positions.state, side text)
returns integer
language sql stable
as $$
  with lying as (
    select (unit.attributes ->> 'space')::integer as space
    from public.unit
    where unit.position_id = state.position_id
      and unit.side = _casualty_space.side
      and (unit.attributes ->> 'eliminated')::boolean
  ),
  -- spaces that are not told are the lowest ones left
  free as (
    select space.n, row_number() over (order by space.n) as nth
    from generate_series(1, 99) as space (n)
    where not exists (select from lying where lying.space = space.n)
  )
  select case
    when state.readings ->> 'ccp-39' = 'b'
      then greatest((select coalesce(max(lying.space), 0) from lying), (select count(*) from lying))::integer + 1
    else (
      select free.n
      from free
      where free.nth = (select count(*) from lying where lying.space is null) + 1
    )
  end
$$;

comment on function ccp._casualty_space(positions.state, text) is
'The space of the Casualty Track that the next eliminated unit of a side takes (11.2, ccp-39).';

create or replace function ccp.casualty(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(casualty.position_id, casualty.unit);
  space integer;
  goes text;
begin
  select * into state from positions.state(casualty.position_id, casualty.conditions, casualty.policy);
  goes := case
    when asked.kind = 'hero' then 'countermix'
    when asked.side = 'japan' and state.conditions -> 'posture' ->> 'japan' = 'banzai' then 'time_track'
    else 'casualty_track'
  end;
  space := case goes
    when 'time_track' then (state.conditions ->> 'time')::integer + 1
    when 'casualty_track' then ccp._casualty_space(state, asked.side)
  end;
  if goes = 'casualty_track' and asked.side = 'allied' and state.conditions ? 'surrender' and exists (
    -- a gap: two units more than the highest space that is told
    select from public.unit as lost
    where lost.position_id = state.position_id and lost.side = asked.side
      and (lost.attributes ->> 'eliminated')::boolean and lost.attributes ? 'space'
  ) then
    return next row(
      '11.2', null, null, 'space ' || space, 'spaces are taken from the lowest up', 'ccp-39', asked.code, null, null
    )::rulings.ledger_step;
  end if;
  if goes = 'time_track' and space is null then
    return next row(
      '17.2', null, null, 'unknown', 'the space of the time marker', null, asked.code, null, null
    )::rulings.ledger_step;
  end if;
  return next row(
    case goes when 'countermix' then '3.3.2' when 'time_track' then '17.2' else '11.2' end, null, null,
    replace(goes, '_', ' '),
    format(
      '%s goes %s', asked.code,
      case goes
        when 'countermix' then 'back to the countermix'
        when 'time_track' then 'to the next space of the Time Track'
        else format('to space %s of the Casualty Track', space)
      end
    ),
    null, asked.code, null,
    jsonb_build_object(
      'goes', goes, 'space', space,
      'surrender', goes = 'casualty_track' and asked.side = 'allied'
      and coalesce(space = (state.conditions ->> 'surrender')::integer, false)
    )
  )::rulings.ledger_step;
end
$$;

comment on function ccp.casualty(bigint, text, jsonb, jsonb) is
'Where an eliminated unit is put, and whether its side surrenders by it (3.3.2, 11.2, 13.3, 17.2).';

create or replace function ccp.survivors(position_id bigint)
returns table (side text, on_map bigint, in_box bigint)
language sql stable rows 2
as $$
  select
    sides.side,
    count(*) filter (where unit.q is not null),
    -- 13.3: a unit in an Infiltration Box keeps its side in the game
    count(*) filter (where unit.q is null and unit.attributes ? 'box')
  from (values ('japan'), ('allied')) as sides (side)
  left join public.unit
    on unit.position_id = survivors.position_id
      and unit.side = sides.side
      and unit.kind not in ('aircraft', 'weapon')
  group by sides.side
  order by sides.side
$$;

comment on function ccp.survivors(bigint) is
'How many units each side has on the map, and in Infiltration Boxes (13.3).';
