-- needs: bob/units.sql, bob/thread.sql, bob/los.sql
-- Facing in bob (Band of Brothers): front and flank of infantry, arcs of Guns and Vehicles, armor, what is adjacent: 2.2, 20.4, 20.6, 40.2, 43.4, 45.4, 47.4.
--
-- A counter faces a corner of its hex: corner f lies between the sides f and f + 1. All is counted in
-- axial steps, in which the scalar product of two displacements is q1 q2 + r1 r2 + (q1 r2 + q2 r1) / 2.

create or replace function bob._ahead(facing integer, dq integer, dr integer)
returns integer
language plpgsql immutable parallel safe
as $$
#variable_conflict use_column
begin
  return (
    select sign(2 * corner.q * dq + 2 * corner.r * dr + corner.q * dr + corner.r * dq)::integer
    from (
      select
        lattice.step_q(facing) + lattice.step_q(facing % 6 + 1) as q,
        lattice.step_r(facing) + lattice.step_r(facing % 6 + 1) as r
    ) as corner
  );
end
$$;

comment on function bob._ahead(integer, integer, integer) is
'Whether a displacement lies before the line through a counter (1), on it (0) or behind it (-1) (2.2).';

create or replace function bob._is_front(facing integer, dq integer, dr integer, reading text)
returns boolean
language sql immutable parallel safe
return case bob._ahead(facing, dq, dr)
  when 1 then true
  when -1 then false
  else case reading when 'a' then true when 'b' then false end
end;

comment on function bob._is_front(integer, integer, integer, text) is
'Whether a displacement is in the front of infantry, by the reading of bob-34; null where that is left open.';

create or replace function bob._turn(one_q integer, one_r integer, other_q integer, other_r integer)
returns integer
language sql immutable parallel safe
return sign(one_q * other_r - one_r * other_q)::integer;

comment on function bob._turn(integer, integer, integer, integer) is
'Which way one displacement is turned from another: 1 clockwise, -1 counterclockwise, 0 neither.';

create or replace function bob._arc_sides(facing integer, dq integer, dr integer, rows boolean)
returns table (from_left integer, from_right integer)
language sql immutable parallel safe rows 1
as $$
  -- the borders: the rows of the two front hexes, or the spines on their outer sides
  select
    bob._turn(
      side.q + case when rows then 0 else before.q end, side.r + case when rows then 0 else before.r end, dq, dr
    ),
    bob._turn(
      dq, dr, next.q + case when rows then 0 else after.q end, next.r + case when rows then 0 else after.r end
    )
  from (select lattice.step_q((facing + 4) % 6 + 1) as q, lattice.step_r((facing + 4) % 6 + 1) as r) as before,
    (select lattice.step_q(facing) as q, lattice.step_r(facing) as r) as side,
    (select lattice.step_q(facing % 6 + 1) as q, lattice.step_r(facing % 6 + 1) as r) as next,
    (select lattice.step_q((facing + 1) % 6 + 1) as q, lattice.step_r((facing + 1) % 6 + 1) as r) as after
$$;

comment on function bob._arc_sides(integer, integer, integer, boolean) is
'On which side of the two borders of an arc a displacement lies: 1 inside, 0 on it, -1 outside (20.4).';

create or replace function bob._in_arc(facing integer, dq integer, dr integer, reading text)
returns boolean
language sql immutable parallel safe
as $$
  select least(sides.from_left, sides.from_right) >= 0
  from bob._arc_sides(facing, dq, dr, reading = 'b') as sides
$$;

comment on function bob._in_arc(integer, integer, integer, text) is
'Whether a displacement is in the arc of a Gun or Vehicle, by the reading of bob-35 (20.4).';

create or replace function bob._aspect(facing integer, dq integer, dr integer)
returns text
language sql immutable parallel safe
as $$
  -- 20.6: along a border what is better for the target, so the front before the side, the side before the rear
  select case
    when least(front.from_left, front.from_right) >= 0 then 'front'
    when least(rear.from_left, rear.from_right) > 0 then 'rear'
    else 'side'
  end
  from bob._arc_sides(facing, dq, dr, false) as front,
    bob._arc_sides(lattice.opposite(facing), dq, dr, false) as rear
$$;

comment on function bob._aspect(integer, integer, integer) is
'Which side of a Vehicle a shot from a displacement meets: front, side or rear (20.6).';

create or replace function bob._faceless(state positions.state, unit positions.counter)
returns text
language plpgsql immutable parallel safe
as $$
#variable_conflict use_column
begin
  return case
    when bob._on_foot(unit) and not bob._in_force(state, 'facing') then 'infantry has no facing where that rule is not played'
    when unit.attributes ? 'moving' then 'it is moving'
    when bob._mounted(unit) then 'it is in a Carrier'
    when coalesce((unit.attributes ->> 'concealed')::integer, 0) > 0 then 'it is Concealed'
  end;
end
$$;

comment on function bob._faceless(positions.state, positions.counter) is
'Why a unit has no facing; null where it has one (2.2).';

drop type if exists bob.neighbour cascade;
create type bob.neighbour as (
  rule text,
  adjacent boolean,
  note text,
  point text
);

comment on type bob.neighbour is
'Whether two places are adjacent, by which rule and why.';

create or replace function bob._neighbour(state positions.state, one bob.sight_end, other bob.sight_end, for_fire boolean)
returns bob.neighbour
language plpgsql stable parallel safe
as $$
#variable_conflict use_variable
declare
  away integer := lattice.distance(one.q, one.r, other.q, other.r);
  cliff text;
begin
  if away = 0 then
    return case
      when one.upper <> other.upper then row('40.2', true, 'the two levels of one building hex', null)::bob.neighbour
      when one.in_cave <> other.in_cave then row('43.4', false, 'a cave and the ground above it are not adjacent', null)::bob.neighbour
      when one.bridge <> other.bridge then row('45.4', true, 'on a bridge and under it', null)::bob.neighbour
      else row('14.0', false, 'one and the same place', null)::bob.neighbour
    end;
  end if;
  if away > 1 then
    return row('14.0', false, format('%s hexes apart', away), null)::bob.neighbour;
  end if;
  if one.upper or other.upper then
    return case
      when one.upper and other.upper and bob._one_building(one, other)
        then row('40.2', true, 'upper levels of one building', null)::bob.neighbour
      else row('40.2', false, 'an upper level is adjacent to its own building alone', null)::bob.neighbour
    end;
  end if;
  if bob._cave_shut(one, other) or bob._cave_shut(other, one) then
    return row('43.4', false, 'a cave is adjacent to its two front hexes alone', null)::bob.neighbour;
  end if;
  if (one.bridge and other.terrain = 'gully' and not other.bridge)
    or (other.bridge and one.terrain = 'gully' and not one.bridge) then
    return row('45.4', false, 'a bridge is not adjacent to other gully hexes', null)::bob.neighbour;
  end if;
  select hexside.kind into cliff
  from public.hexside
  where hexside.map_id = state.map_id
    and hexside.x = one.q + other.q
    and hexside.y = one.r + other.r
    and hexside.kind in ('cliff', 'escarpment');
  if found then
    return row(
      case cliff when 'cliff' then '47.4' else '54.3' end,
      for_fire and state.readings ->> 'bob-26' = 'b',
      format('a%s %s lies between', case cliff when 'cliff' then '' else 'n' end, cliff),
      'bob-26'
    )::bob.neighbour;
  end if;
  return row('14.0', true, 'neighbouring hexes', null)::bob.neighbour;
end
$$;

comment on function bob._neighbour(positions.state, bob.sight_end, bob.sight_end, boolean) is
'Whether two ends are adjacent (40.2, 43.4, 45.4, 47.4, 54.3); for fire bob-26 may have it otherwise.';

create or replace function bob._cave_shut(inside bob.sight_end, other bob.sight_end)
returns boolean
language sql immutable parallel safe
return inside.in_cave
and lattice.direction(other.q - inside.q, other.r - inside.r) not in (inside.front, inside.front % 6 + 1);

comment on function bob._cave_shut(bob.sight_end, bob.sight_end) is
'Whether a neighbouring hex lies elsewhere than before the mouth of a cave (43.4).';

create or replace function bob.adjacent(
  position_id bigint, "from" text, "to" text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 1
as $$
declare
  state positions.state;
  start bob.sight_end;
  target bob.sight_end;
  met bob.neighbour;
begin
  select * into state from positions.state(adjacent.position_id, adjacent.conditions, adjacent.policy);
  select * into start from bob._end(adjacent.position_id, adjacent."from");
  select * into target from bob._end(adjacent.position_id, adjacent."to");
  if start.q is null or target.q is null then
    raise exception 'one of % and % is not on the map', adjacent."from", adjacent."to" using errcode = 'no_data_found';
  end if;
  met := bob._neighbour(state, start, target, false);
  return next row(
    met.rule, null, target.label, case when met.adjacent then 'adjacent' else 'not adjacent' end, met.note, met.point,
    null, null, jsonb_build_object('adjacent', met.adjacent, 'why', met.note)
  )::rulings.ledger_step;
end
$$;

comment on function bob.adjacent(bigint, text, text, jsonb, jsonb) is
'Whether two hexes or units are adjacent, and why (40.2, 43.4, 45.4, 47.4).';

create or replace function bob._aspect_of(state positions.state, facing integer, dq integer, dr integer, heavy boolean)
returns text
language sql immutable parallel safe
return case
  when facing is null then 'front'
  when heavy then bob._aspect(facing, dq, dr)
  else case bob._is_front(facing, dq, dr, state.readings ->> 'bob-34') when true then 'front' when false then 'flank' else 'unknown' end
end;

comment on function bob._aspect_of(positions.state, integer, integer, integer, boolean) is
'What of a unit a neighbouring hex is: front, flank, side or rear; unknown where bob-34 leaves it open.';

create or replace function bob._arc_steps(state positions.state, unit positions.counter, facing integer, heavy boolean)
returns setof rulings.ledger_step
language sql stable rows 6
as $$
  select
    case when heavy then '20.4' else '2.2' end,
    null,
    hex.label,
    aspect.word,
    case
      when aspect.word = 'unknown' then format('whether %s is front or flank: the figure is not in the text', hex.label)
      when not heavy and facing is not null and bob._ahead(facing, beside.nq - unit.q, beside.nr - unit.r) = 0
        then 'the line through the unit halves this hex'
      else format('in direction %s', beside.direction)
    end,
    case
      when not heavy and facing is not null and bob._ahead(facing, beside.nq - unit.q, beside.nr - unit.r) = 0
        then 'bob-34'
    end,
    unit.code,
    null::integer,
    null::jsonb
  from lattice.neighbours(unit.q, unit.r) as beside
  inner join public.hex on hex.map_id = state.map_id and hex.q = beside.nq and hex.r = beside.nr
  cross join lateral (
    select bob._aspect_of(state, facing, beside.nq - unit.q, beside.nr - unit.r, heavy) as word
  ) as aspect
  order by beside.direction
$$;

comment on function bob._arc_steps(positions.state, positions.counter, integer, boolean) is
'Each neighbouring hex, with what of the unit it is.';

create or replace function bob._arc_facts(state positions.state, unit positions.counter, facing integer, heavy boolean)
returns jsonb
language sql stable
as $$
  select
    case
      when heavy then jsonb_build_object(
        'front', coalesce(jsonb_agg(step.at) filter (where step.effect = 'front'), '[]'),
        'side', coalesce(jsonb_agg(step.at) filter (where step.effect = 'side'), '[]'),
        'rear', coalesce(jsonb_agg(step.at) filter (where step.effect = 'rear'), '[]'),
        'fire', (
          select coalesce(jsonb_agg(hex.label order by hex.label), '[]')
          from public.hex
          where hex.map_id = state.map_id
            and (hex.q, hex.r) <> (unit.q, unit.r)
            and (facing is null or bob._in_arc(facing, hex.q - unit.q, hex.r - unit.r, state.readings ->> 'bob-35'))
        )
      )
      else jsonb_strip_nulls(jsonb_build_object(
        'front', coalesce(jsonb_agg(step.at) filter (where step.effect = 'front'), '[]'),
        'flank', coalesce(jsonb_agg(step.at) filter (where step.effect = 'flank'), '[]'),
        'unknown', jsonb_agg(step.at) filter (where step.effect = 'unknown')
      ))
    end
  from bob._arc_steps(state, unit, facing, heavy) as step
$$;

comment on function bob._arc_facts(positions.state, positions.counter, integer, boolean) is
'The hexes of each aspect of a unit, and the arc it fires into.';

create or replace function bob.armor(position_id bigint, unit text, "from" text, conditions jsonb default null, policy jsonb default null)
returns setof rulings.ledger_step
language plpgsql stable rows 1
as $$
declare
  state positions.state;
  asked positions.counter;
  place record;
  aspect text;
begin
  select * into state from positions.state(armor.position_id, armor.conditions, armor.policy);
  asked := bob._counter(state, armor.unit);
  select * into place from positions.place(armor.position_id, armor."from");
  if place.q is null or asked.q is null then
    raise exception 'one of % and % is not on the map', armor.unit, armor."from" using errcode = 'no_data_found';
  end if;
  aspect := bob._aspect((asked.attributes ->> 'facing')::integer, place.q - asked.q, place.r - asked.r);
  return next row(
    '20.6', null, asked.label,
    case
      when asked.attributes ->> 'facing' is null then 'unknown'
      when not asked.attributes ? 'armor' and not asked.attributes ? 'unarmored' then 'unknown'
      else aspect
    end,
    case
      when asked.attributes ->> 'facing' is null then format('the facing of %s', asked.code)
      when not asked.attributes ? 'armor' and not asked.attributes ? 'unarmored' then 'counter'
      else format('the shot meets its %s', aspect)
    end,
    null, asked.code, null,
    jsonb_build_object(
      'facing', case when asked.attributes ->> 'facing' is not null then aspect end,
      'armor', case
        when asked.attributes ? 'unarmored' then 0
        when asked.attributes ->> 'facing' is not null
          then bob._nth(asked.attributes -> 'armor', case aspect when 'front' then 1 else 2 end)
      end
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.armor(bigint, text, text, jsonb, jsonb) is
'The armor of a Vehicle that a shot from a place meets, and on which side (20.3, 20.6).';

create or replace function bob.arc(position_id bigint, unit text, conditions jsonb default null, policy jsonb default null)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter;
  facing integer;
  why text;
  heavy boolean;
begin
  select * into state from positions.state(arc.position_id, arc.conditions, arc.policy);
  asked := bob._counter(state, arc.unit);
  facing := (asked.attributes ->> 'facing')::integer;
  heavy := not bob._on_foot(asked);
  why := bob._faceless(state, asked);
  if why is null and facing is null then
    return next row(
      '2.2', null, asked.label, 'unknown', format('the facing of %s', asked.code), null, null, null,
      case when heavy then '{"front": null, "side": null, "rear": null, "fire": null}' else '{"front": null, "flank": null}' end::jsonb
    )::rulings.ledger_step;
    return;
  end if;
  return query select * from bob._arc_steps(state, asked, case when why is null then facing end, heavy);
  return next row(
    case when heavy then '20.4' else '2.2' end, null, asked.label, 'told',
    coalesce(why || ': all fire at it is toward its front', format('it faces corner %s', facing)),
    null, null, null,
    bob._arc_facts(state, asked, case when why is null then facing end, heavy)
  )::rulings.ledger_step;
end
$$;

comment on function bob.arc(bigint, text, jsonb, jsonb) is
'Front and flank of an infantry unit, or front, side, rear and arc of fire of a Gun or Vehicle, by the labels of hexes (2.2, 20.4).';
