-- needs: bob/costs.sql
-- Changes of place within a hex in bob (Band of Brothers): into a Cave 43.4, from level to level 40.2, and turning 20.3.

create or replace function bob._has_marker(state positions.state, kinds text[], q integer, r integer)
returns boolean
language plpgsql stable
as $$
begin
  return exists (
    select
    from public.marker
    where marker.position_id = state.position_id
      and marker.kind = any(kinds)
      and marker.q = _has_marker.q
      and marker.r = _has_marker.r
  );
end
$$;

comment on function bob._has_marker(positions.state, text[], integer, integer) is
'Whether a marker of one of these kinds lies in a hex.';

create or replace function bob._cave_leg(state positions.state, mover bob.mover, leg bob.leg)
returns bob.leg
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  mouth integer[];
  kind text;
  back integer := (leg.direction + 2) % 6 + 1;
begin
  select
    marker.kind,
    case when marker.facing is not null then array[marker.facing, marker.facing % 6 + 1] end
  into kind, mouth
  from public.marker
  where marker.position_id = state.position_id
    and marker.kind in ('cave', 'small_cave')
    and marker.q = leg.tq
    and marker.r = leg.tr
  -- which of two tells where the Cave of the hex faces
  order by marker.facing is null, marker.id
  limit 1;
  leg.shut_rule := '43.4';
  leg.shut := case
    when kind is null then 'there is no Cave'
    when not mover.infantry then 'only Infantry enters a Cave on its own'
    when not mover.japanese then 'only Japanese enter Caves'
    when back <> all(mouth) then 'a Cave is entered from one of its two front hexes'
  end;
  leg.ground := kind;
  leg.rule := '43.4';
  leg.halves := (bob._card('infantry') -> kind ->> 'halves')::integer;
  leg.side_label := null;
  leg.side_halves := 0;
  leg.more := 0;
  leg.untold := null;
  leg.bound := false;
  leg.whole := false;
  leg.stops := false;
  leg.price := greatest(leg.halves, leg.least);
  return leg;
end
$$;

comment on function bob._cave_leg(positions.state, bob.mover, bob.leg) is
'A step into the Cave of a hex instead of onto the hill: from its front hexes, by Japanese infantry, for its own price (43.4).';

create or replace function bob._level_step(state positions.state, mover bob.mover, ground bob.ground)
returns rulings.move_step
language plpgsql stable
as $$
declare
  step rulings.move_step;
begin
  step.rule := '40.2';
  step.at := ground.label;
  step.note := case
    when not bob._has_marker(state, '{upper_level}', ground.q, ground.r) then 'there is no Upper Level'
    when not mover.infantry then 'only Infantry goes from level to level'
  end;
  step.effect := 'forbids';
  if step.note is null then
    step.effect := 'cost';
    step.note := case mover.into_location when 'upper' then 'up, as into the building' else 'down, as into the building' end;
    step.halves := (bob._card('infantry', mover.read) -> ground.terrain ->> 'halves')::integer;
  end if;
  return step;
end
$$;

comment on function bob._level_step(positions.state, bob.mover, bob.ground) is
'From one level of a building to the other, at the cost of the building; or why not (40.2).';

create or replace function bob._turn_step(mover bob.mover, label text, was integer)
returns rulings.move_step
language plpgsql stable
as $$
declare
  step rulings.move_step;
  corners integer := abs((mover.turns ->> label)::integer - coalesce(was, 1));
  price integer := (bob._card('vehicle', mover.read) -> 'turning' ->> 'halves')::integer;
begin
  step.rule := '20.3';
  step.at := label;
  if not mover.vehicle then
    step.effect := 'forbids';
    step.note := 'only a Vehicle turns on its way';
  elsif price is null then
    step.effect := 'unknown';
    step.note := 'pac_terrain turning';
  else
    corners := least(corners, 6 - corners);
    step.effect := 'cost';
    step.note := format('it turns by %s', corners);
    step.halves := price * corners;
  end if;
  return step;
end
$$;

comment on function bob._turn_step(bob.mover, text, integer) is
'What a Vehicle pays to turn within its hex: the card tells it for each corner (20.3).';
