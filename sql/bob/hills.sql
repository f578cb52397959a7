-- needs: bob/strips.sql, bob/hedgerows.sql
-- Hills and what stands on them in a line of sight of bob (Band of Brothers): 14.0, 47.2, 47.4, and 54.2, 54.3.
--
-- What counts is what shows on both sides of the thread over some length (14.0): the edge of
-- artwork, a spine with woods on one side, a corner point stop nothing, two woods that meet
-- along the thread do. Off the map nothing shows.

create or replace function bob._heights(thread bob.thread, strips bob.strip[])
returns table (
  enter numeric,
  leave numeric,
  label text,
  ground integer,
  cover text,
  area integer,
  hides text,
  effect text,
  near integer,
  blind integer
)
language sql immutable parallel safe rows 5
as $$
  select
    min(strip.enter),
    max(strip.leave),
    strip.label,
    strip.ground,
    case when part.needs_cover then strip.cover end as cover,
    case when part.needs_cover then strip.area end as area,
    shown.hides,
    case
      when strip.flanks_hidden = 2 then 'blocks'
      when strip.hides is not null then 'graze'
      else 'passes'
    end as effect,
    min(strip.near),
    min(strip.near) - (thread.high - min(strip.top))
  from (
    select
      both_sides.*,
      count(both_sides.hides) over shared as flanks_hidden,
      min(both_sides.ground + both_sides.height) over shared as top
    from unnest(strips) as both_sides
    window shared as (partition by both_sides.n, both_sides.enter)
  ) as strip
  cross join lateral (
    select
      case
        when strip.flanks_hidden = 2 then bob._hides(thread, strip.top, strip.near, strip.far)
      end as hides
  ) as shown
  cross join lateral (
    -- what stands on the ground is named where the ground alone would not do it
    select strip.ground_hides is null or strip.ground_hides is distinct from shown.hides as needs_cover
  ) as part
  where strip.hides is not null
    or strip.cover is not null
    or strip.ground > thread.low
    -- a hill that is no higher than the lower end is what both see over
    or (strip.ground = thread.low and strip.ground > 0)
  group by strip.n, strip.label, strip.ground, 5, 6, shown.hides, 8
$$;

comment on function bob._heights(bob.thread, bob.strip[]) is
'What rises beside a thread: it shows on both sides, on one, or is seen over; blind: how many hexes behind it are.';

create or replace function bob._height_steps(thread bob.thread, strips bob.strip[])
returns setof bob.obstacle
language sql immutable parallel safe rows 5
as $$
  select
    height.enter,
    case
      when thread.level = thread.to_level and height.hides is distinct from 'level' and height.cover is not null
        then '14.0'
      else '47.2'
    end,
    height.label,
    height.effect,
    case
      when height.cover is null then format('ground of level %s in %s', height.ground, height.label)
      when height.area is null then format('%s in %s', replace(height.cover, '_', ' '), height.label)
      else format('%s area %s in %s', replace(height.cover, '_', ' '), height.area, height.label)
    end
    || case
      when height.effect = 'graze' then ' shows on one side of the thread only'
      when height.effect = 'passes' and thread.level = thread.to_level then ' is not higher than both ends'
      when height.effect = 'passes' then ' is seen over'
      when height.hides = 'higher' then ' is higher than both ends'
      when height.hides = 'level' then ' is level with the higher end and hides what is lower'
      else format(' is %s hexes from the higher end and leaves %s behind it blind', height.near, height.blind)
    end
    || ', ' || bob._way(height.enter, height.leave),
    null,
    0
  from bob._heights(thread, strips) as height
$$;

comment on function bob._height_steps(bob.thread, bob.strip[]) is
'Ground and what stands on it: what hides the ends from each other, is grazed or seen over (14.0, 47.2).';

create or replace function bob._assumed_steps(strips bob.strip[])
returns setof bob.obstacle
language sql immutable parallel safe rows 1
as $$
  select
    min(strip.enter),
    '14.0',
    strip.label,
    'assumed',
    format('%s is not drawn in %s and taken to fill it to its sides', replace(strip.terrain, '_', ' '), strip.label),
    null,
    0
  from unnest(strips) as strip
  where (strip.cover = strip.terrain and strip.area is null)
    or (strip.grass and strip.grass_area is null)
  group by strip.label, strip.terrain
$$;

comment on function bob._assumed_steps(bob.strip[]) is
'Hexes whose terrain is not drawn (14.0).';

create or replace function bob._own_ridges(state positions.state, thread bob.thread)
returns table (q integer, r integer)
language sql stable parallel safe rows 5
as $$
  with recursive ridge as (
    select
      hex.q,
      hex.r
    from public.hex
    where hex.map_id = state.map_id
      and (hex.q, hex.r) in ((thread.q, thread.r), (thread.to_q, thread.to_r))
      and 'ridge' = any(hex.features)
    union
    select
      hex.q,
      hex.r
    from ridge
    cross join lateral lattice.neighbours(ridge.q, ridge.r) as beside
    inner join public.hex on hex.map_id = state.map_id and hex.q = beside.nq and hex.r = beside.nr
    where 'ridge' = any(hex.features)
  )
  select * from ridge
$$;

comment on function bob._own_ridges(positions.state, bob.thread) is
'The hexes of the ridges that the ends of a thread are on: joined by hexes with the feature `ridge` (54.2).';

create or replace function bob._ridge_steps(state positions.state, thread bob.thread, strips bob.strip[])
returns setof bob.obstacle
language sql stable parallel safe rows 1
as $$
  select
    ridge.mark,
    '54.2',
    ridge.label,
    case when thread.level = 0 and thread.to_level = 0 and not ridge.own then 'blocks' else 'passes' end,
    case
      -- it is less than a level high
      when thread.level <> 0 or thread.to_level <> 0 then 'a ridge counts between Level 0 only'
      when ridge.own then 'an end is on this ridge'
      else 'a ridge between Level 0'
    end,
    null,
    0
  from (
    select
      min(strip.enter) as mark,
      positions.side_label(min(strip.label), max(strip.label)) as label,
      bool_or(
        (strip.q, strip.r) in (select own.q, own.r from bob._own_ridges(state, thread) as own)
      ) as own
    from unnest(strips) as strip
    inner join public.hex
      on hex.map_id = state.map_id
        and hex.q = strip.q
        and hex.r = strip.r
        and 'ridge' = any(hex.features)
    group by strip.n
    having count(distinct strip.flank) = 2
  ) as ridge
$$;

comment on function bob._ridge_steps(positions.state, bob.thread, bob.strip[]) is
'Ridges that a thread crosses, or runs along between two of their hexes (54.2).';

create or replace function bob._cliff_steps(hexsides bob.hexside[])
returns setof bob.obstacle
language sql immutable parallel safe rows 1
as $$
  select
    hexside.mark,
    case hexside.kind when 'cliff' then '47.4' else '54.3' end,
    hexside.label,
    'passes',
    format('to the thread this %s is a crest line', hexside.kind),
    null,
    0
  from unnest(hexsides) as hexside
  where hexside.kind in ('cliff', 'escarpment')
$$;

comment on function bob._cliff_steps(bob.hexside[]) is
'Cliffs and escarpments that a thread meets (47.4, 54.3).';
